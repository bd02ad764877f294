package detect

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/foreign"
	"busbar/post/hang"
	"busbar/post/input"
	"busbar/post/nccllog"
	"busbar/post/trace"
)

// Beside counts the files in a folder of results that other commands read.
type Beside struct {
	Folder                   string
	Logs, Traces, Benchmarks int
	Dumps                    int // of the Flight Recorder
}

// String names the files and the commands that read them.
func (b Beside) String() string {
	var words []string
	add := func(n int, noun, command string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%s (%s)", units.Count(n, noun), command))
		}
	}
	add(b.Logs, "NCCL log", "post log "+b.Folder)
	add(b.Dumps, "Flight Recorder dump", "post hang "+b.Folder)
	add(b.Traces, "trace", "post timeline "+b.Folder)
	add(b.Benchmarks, "benchmark log", "post import FILE")
	return fmt.Sprintf("%s also has %s", b.Folder, strings.Join(words, ", "))
}

// beside counts what a folder of results has for other commands.
func (k *Kinds) beside(ctx context.Context, folder string) error {
	files, err := input.FilesUnder(folder)
	if err != nil {
		return err
	}
	b := Beside{Folder: folder}
	for _, path := range files {
		if isRun(path) {
			continue
		}
		if hang.Is(ctx, path) == hang.Dump {
			b.Dumps++
			continue
		}
		if is, _ := trace.Is(path); is {
			b.Traces++
			continue
		}
		if reads(ctx, path, func(head io.Reader) error { return nccllog.NewReader().Add(path, head) }) {
			b.Logs++
		}
		if reads(ctx, path, func(head io.Reader) error {
			_, err := foreign.Read(head, foreign.File{Path: path}, nowhere{})
			return err
		}) {
			b.Benchmarks++
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if b != (Beside{Folder: folder}) {
		k.Beside = append(k.Beside, b)
	}
	return nil
}

// headBytes is how much of a file decides its kind.
const headBytes = 1 << 20

// reads reports whether read accepts the head of a file.
func reads(ctx context.Context, path string, read func(head io.Reader) error) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return read(io.LimitReader(input.NewReader(ctx, f), headBytes)) == nil
}

// nowhere discards tables.
type nowhere struct{}

func (nowhere) Begin(*result.Run, []result.Rank) (foreign.Table, error) { return nowhere{}, nil }
func (nowhere) Append(*result.Record) error                             { return nil }
func (nowhere) End(result.End) error                                    { return nil }
