package hang

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/hang/evidence"
	"busbar/post/hang/flight"
	"busbar/post/hang/stack"
	"busbar/post/hang/watchdog"
	"busbar/post/input"
	"busbar/post/nccllog"
	"busbar/post/nccllog/logline"
)

// NothingError reports that no file holds evidence of a hang.
type NothingError struct{ Paths []string }

func (e *NothingError) Error() string {
	return fmt.Sprintf("nothing of a hung job in %s: post hang reads dumps of the Flight Recorder, logs of ranks, "+
		"ncclras, NCCL logs, py-spy and results of rank", strings.Join(e.Paths, ", "))
}

// Read reads all files, and those of folders with their subfolders. The notices are on files that were not used.
func Read(ctx context.Context, paths []string) (*Evidence, []notice.Notice, error) {
	r := &reading{ctx: ctx, nccl: nccllog.NewReader()}
	var files []string
	for _, path := range paths {
		below, _, err := input.Expand(path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, below...)
	}
	if err := r.files(files); err != nil {
		return nil, nil, err
	}
	kept, notes := oneRun(r.Dumps)
	notes = append(r.notes, notes...)
	if !r.recognised {
		return nil, notes, &NothingError{paths}
	}
	r.Dumps, r.Folder = kept, commonFolder(files)
	r.fitRanks()
	if r.hasNCCL { // only when all its files are read
		r.NCCL = r.nccl.Log()
	}
	return &r.Evidence, notes, nil
}

// commonFolder is the folder of all files, with its separator; "" for none.
func commonFolder(files []string) string {
	folder, _ := filepath.Split(files[0])
	for _, file := range files {
		for !strings.HasPrefix(file, folder) {
			folder, _ = filepath.Split(strings.TrimSuffix(folder, string(filepath.Separator)))
		}
	}
	return folder
}

// reading is the state of Read.
type reading struct {
	Evidence
	ctx        context.Context
	known      evidence.Interned
	nccl       *nccllog.Reader
	hasNCCL    bool
	recognised bool
	notes      []notice.Notice
}

// parsed is what one file holds.
type parsed struct {
	Evidence
	nccl bool // nccllog reads it
	err  error
}

// files reads files side by side, and keeps what they hold in their order.
func (r *reading) files(paths []string) error {
	all := make([]parsed, len(paths))
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), 8)) {
		workers.Go(func() {
			var buffer bytes.Buffer // used again
			for i := range next {
				all[i] = r.file(paths[i], &buffer)
			}
		})
	}
	for i := range paths {
		if r.ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	for i := range all {
		if err := r.keep(paths[i], &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) keep(path string, p *parsed) error {
	if p.err != nil {
		r.notes = append(r.notes, notice.OfError(path, p.err))
	}
	r.Dumps, r.Logs = append(r.Dumps, p.Dumps...), append(r.Logs, p.Logs...)
	r.Stacks, r.Own = append(r.Stacks, p.Stacks...), append(r.Own, p.Own...)
	r.recognised = r.recognised || len(p.Dumps)+len(p.Stacks)+len(p.Own) > 0 ||
		len(p.Logs) > 0 && len(p.Logs[0].Events) > 0
	if !p.nccl {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	defer f.Close()
	err = r.nccl.Add(path, input.NewReader(r.ctx, f))
	if _, nothing := errors.AsType[*nccllog.NothingError](err); nothing {
		return nil
	}
	r.hasNCCL, r.recognised = true, true
	return err
}

// file reads one file by its content.
func (r *reading) file(path string, buffer *bytes.Buffer) (p parsed) {
	f, err := os.Open(path)
	if err != nil {
		return parsed{err: err}
	}
	defer f.Close()
	in, err := input.Unpacked(input.NewReader(r.ctx, f), logline.HeadBytes)
	if err != nil {
		return parsed{err: err}
	}
	head, err := in.Peek(logline.HeadBytes)
	switch form, is := nccllog.Detect(head); {
	case len(head) == 0:
		if !errors.Is(err, io.EOF) {
			p.err = err
		}
	case flight.Is(head), flight.IsPickle(head):
		p.Dumps, p.err = r.dump(path, in, buffer)
	case bytes.HasPrefix(head, []byte(`{"kind":"run"`)):
		p.Own, p.err = own(path)
	case is && form != nccllog.Debug:
		p.nccl = true
	case isBinary(head):
	default:
		var log *watchdog.Log
		log, p.Stacks, p.err = text(path, in)
		p.Logs, p.nccl = []*watchdog.Log{log}, log.NCCL
	}
	return p
}

// isBinary reports whether a file is no text.
func isBinary(head []byte) bool { return bytes.IndexByte(head[:min(len(head), 512)], 0) >= 0 }

// dump reads a dump as a whole.
func (r *reading) dump(path string, in io.Reader, buffer *bytes.Buffer) ([]*evidence.Dump, error) {
	buffer.Reset()
	if _, err := buffer.ReadFrom(io.LimitReader(in, flight.MaxBytes+1)); err != nil {
		return nil, err
	}
	if buffer.Len() > flight.MaxBytes {
		return nil, fmt.Errorf("larger than %d MiB", flight.MaxBytes>>20)
	}
	d, err := flight.Read(path, buffer.Bytes(), &r.known)
	if err != nil {
		return nil, err
	}
	return []*evidence.Dump{d}, nil
}

// text reads the lines of a log, or of stacks.
func text(path string, in *bufio.Reader) (*watchdog.Log, []stack.Process, error) {
	rank := rankOfLog(path)
	log, stacks := watchdog.NewLog(path, rank), &stack.Reader{File: path, Rank: rank}
	for number := 1; number < math.MaxInt32; number++ {
		line, ended, err := logline.NextLine(in)
		if line != "" || ended {
			line = logline.Plain(line)
			log.Read(number, line)
			stacks.Read(number, line)
		}
		if errors.Is(err, io.EOF) {
			if ofTorchrun(path) {
				log.Belong()
			}
			break
		}
		if err != nil {
			return log, stacks.All, err
		}
	}
	return log, stacks.All, nil
}

// rankWord is a rank in the name of a file. A bare number may be that of a job, a process or a node.
var rankWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(local[-_.]?)?rank[-_.=]?(\d{1,6})`)

// rankOfLog is the rank in the name of a log, or of the folder of a file of torchrun; -1 if it has none.
func rankOfLog(path string) int {
	folder, name := filepath.Split(path)
	if ofTorchrun(path) {
		name = filepath.Base(folder)
	}
	m := rankWord.FindStringSubmatch(name)
	if m == nil || m[1] != "" {
		return -1
	}
	rank, err := strconv.Atoi(m[2])
	if err != nil {
		return -1
	}
	return rank
}

// ofTorchrun reports whether a file has what one process printed, as torchrun names it: 3/stderr.log, where 3 is the
// local rank.
func ofTorchrun(path string) bool {
	switch filepath.Base(path) {
	case "stderr.log", "stdout.log", "stderr", "stdout":
		return true
	}
	return false
}

// fitRanks drops ranks of names that are no ranks of the job: numbers of jobs, or of processes.
func (r *reading) fitRanks() {
	world := worldOf(r.Dumps)
	fits := func(rank int) bool { return world == nil || slices.Contains(world, rank) }
	for _, log := range r.Logs {
		if fits(log.Rank) {
			continue
		}
		for i := range log.Events {
			if log.Events[i].Rank == log.Rank {
				log.Events[i].Rank = -1
			}
		}
		log.Rank = -1
	}
	for s := range units.Each(r.Stacks) {
		if !fits(s.Rank) || s.Rank == s.PID {
			s.Rank = -1
		}
	}
}

// own reads how a run of busbar ended; nothing if it did not hang.
func own(path string) ([]Own, error) {
	f, err := result.Scan(path, func(*result.Record) error { return nil })
	if err != nil || f.End == nil {
		return nil, err
	}
	switch cause := f.End.Cause.Fact.(type) {
	case notice.RunHung, notice.RankGone:
		return []Own{{path, cause}}, nil
	}
	return nil, nil
}
