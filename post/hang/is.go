package hang

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"

	"busbar/post/hang/flight"
	"busbar/post/input"
	"busbar/post/nccllog/logline"
)

// Form is what evidence a file is.
type Form uint8

// The forms.
const (
	None Form = iota
	Dump      // of the Flight Recorder
	Text      // of a watchdog, a launcher, or a stack
)

// headBytes is how much of a file decides its form.
const headBytes = 1 << 20

// Is returns what evidence a file is, by its first bytes; None also if it cannot be read.
func Is(ctx context.Context, path string) Form {
	f, err := os.Open(path)
	if err != nil {
		return None
	}
	defer f.Close()
	in, err := input.Unpacked(input.NewReader(ctx, f), logline.HeadBytes)
	if err != nil {
		return None
	}
	head, _ := in.Peek(logline.HeadBytes)
	switch {
	case flight.Is(head):
		return Dump
	case len(head) == 0, isBinary(head), bytes.HasPrefix(bytes.TrimLeft(head, " \r\n"), []byte("{")):
		return None
	}
	log, stacks, _ := text(path, bufio.NewReader(io.LimitReader(in, headBytes)))
	if len(log.Events)+len(stacks) > 0 {
		return Text
	}
	return None
}

// Beside returns the evidence in folders of results, if they have dumps; else nothing: messages alone are in the logs
// of many runs.
func Beside(ctx context.Context, folders []string) (files []string, err error) {
	dumps := false
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		below, err := input.FilesUnder(folder)
		if err != nil {
			return nil, err
		}
		for _, path := range below {
			form := Is(ctx, path)
			if dumps = dumps || form == Dump; form != None {
				files = append(files, path)
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
	}
	if !dumps {
		return nil, nil
	}
	return files, nil
}
