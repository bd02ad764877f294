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
	"strings"
	"sync"

	"busbar/internal/notice"
	"busbar/internal/result"
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
	r := &reading{ctx: ctx, known: &evidence.Interned{}, nccl: nccllog.NewReader()}
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, input.ReadError(path, err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		below, err := input.FilesUnder(path)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, below...)
	}
	if err := r.files(files); err != nil {
		return nil, nil, err
	}
	notes := r.notes
	var more []notice.Notice
	r.Dumps, more = oneRun(r.Dumps)
	notes = append(notes, more...)
	r.fitRanks()
	if r.hasNCCL {
		r.Evidence.NCCL = r.nccl.Log()
	}
	if !r.recognised {
		return nil, notes, &NothingError{paths}
	}
	return &r.Evidence, notes, nil
}

// reading is the state of Read.
type reading struct {
	Evidence
	ctx        context.Context
	known      *evidence.Interned
	nccl       *nccllog.Reader
	hasNCCL    bool
	recognised bool
	notes      []notice.Notice
}

// worker reads files, one after the other, in memory that it uses again.
type worker struct {
	ctx    context.Context
	known  *evidence.Interned
	buffer bytes.Buffer
}

// parsed is what one file holds.
type parsed struct {
	dump   *evidence.Dump
	log    *watchdog.Log
	stacks []stack.Process
	own    *Own
	err    error
	nccl   bool
}

// files reads files side by side, and keeps what they hold in their order.
func (r *reading) files(paths []string) error {
	all := make([]parsed, len(paths))
	next := make(chan int)
	var done sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), 8)) {
		done.Go(func() {
			w := &worker{ctx: r.ctx, known: r.known}
			for i := range next {
				all[i] = w.file(paths[i])
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
	done.Wait()
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
	switch {
	case p.err != nil:
		r.notes = append(r.notes, notice.OfError(path, p.err))
	case p.dump != nil:
		r.Dumps, r.recognised = append(r.Dumps, p.dump), true
	}
	if p.own != nil {
		r.Own, r.recognised = append(r.Own, *p.own), true
	}
	if len(p.stacks) > 0 {
		r.Stacks, r.recognised = append(r.Stacks, p.stacks...), true
	}
	if p.log != nil {
		r.Logs = append(r.Logs, p.log)
		r.recognised = r.recognised || len(p.log.Events) > 0
	}
	if !p.nccl {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	defer f.Close()
	var nothing *nccllog.NothingError
	switch err := r.nccl.Add(path, input.NewReader(r.ctx, f)); {
	case errors.As(err, &nothing):
	case err != nil:
		return err
	default:
		r.hasNCCL, r.recognised = true, true
	}
	return context.Cause(r.ctx)
}

// file reads one file by its content.
func (r *worker) file(path string) (p parsed) {
	f, err := os.Open(path)
	if err != nil {
		return parsed{err: err}
	}
	defer f.Close()
	in, err := logline.Opened(input.NewReader(r.ctx, f))
	if err != nil {
		return parsed{err: err}
	}
	head, err := in.Peek(logline.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return parsed{err: err}
	}
	switch form, is := nccllog.Detect(head); {
	case len(head) == 0:
		return p
	case flight.Is(head), flight.IsPickle(head):
		p.dump, p.err = r.dump(path, in)
	case strings.HasPrefix(string(head[:min(len(head), 16)]), `{"kind":"run"`):
		p.own, p.err = own(path)
	case is && form != nccllog.Debug:
		p.nccl = true
	case slices.Contains(head[:min(len(head), 512)], 0): // neither text nor a dump
	default:
		p.log, p.stacks, p.err = text(path, in)
		p.nccl = p.log != nil && p.log.NCCL
	}
	return p
}

// dump reads a dump as a whole.
func (r *worker) dump(path string, in io.Reader) (*evidence.Dump, error) {
	r.buffer.Reset()
	if _, err := r.buffer.ReadFrom(io.LimitReader(in, flight.MaxBytes+1)); err != nil {
		return nil, err
	}
	if r.buffer.Len() > flight.MaxBytes {
		return nil, fmt.Errorf("larger than %d MiB", flight.MaxBytes>>20)
	}
	return flight.Read(path, r.buffer.Bytes(), r.known)
}

// text reads the lines of a log, or of stacks.
func text(path string, in *bufio.Reader) (*watchdog.Log, []stack.Process, error) {
	rank := rankOfLog(path)
	log, stacks := watchdog.NewLog(path, rank), &stack.Reader{File: path, Rank: rank}
	for number := 1; ; number++ {
		line, ended, err := logline.NextLine(in)
		if line != "" || ended {
			line = logline.Plain(line)
			log.Read(number, line)
			stacks.Read(number, line)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return log, stacks.All, err
			}
			return log, stacks.All, nil
		}
		if number == math.MaxInt32 {
			return log, stacks.All, nil
		}
	}
}

// notRank is what precedes a number that is no rank at the end of a log's name.
var notRank = regexp.MustCompile(`(?i)(slurm-|node|host|job|pid)[-_.]?\d+$`)

// rankOfLog is the rank in the name of a log: its trailing number, or that of its folder, as torchrun names
// 3/stderr.log.
func rankOfLog(path string) int {
	folder, name := filepath.Split(path)
	if notRank.MatchString(strings.TrimSuffix(name, filepath.Ext(name))) {
		return -1
	}
	if rank := flight.RankOf(path); rank >= 0 {
		return rank
	}
	switch name {
	case "stderr.log", "stdout.log", "stderr", "stdout":
		return flight.RankOf(filepath.Clean(folder))
	}
	return -1
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
	for i := range r.Stacks {
		if s := &r.Stacks[i]; !fits(s.Rank) || s.Rank == s.PID {
			s.Rank = -1
		}
	}
}

// own reads how a run of busbar ended; nil if it did not hang.
func own(path string) (*Own, error) {
	f, err := result.Scan(path, func(*result.Record) error { return nil })
	if err != nil || f.End == nil {
		return nil, err
	}
	switch cause := f.End.Cause.Fact.(type) {
	case notice.RunHung, notice.RankGone:
		return &Own{path, cause}, nil
	}
	return nil, nil
}
