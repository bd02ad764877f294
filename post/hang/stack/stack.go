// Package stack reads stacks of Python processes: the text of py-spy dump, and of faulthandler.
package stack

import (
	"regexp"
	"strconv"
	"strings"

	"busbar/post/hang/evidence"
)

// Process is the threads of one process.
type Process struct {
	File    string
	Line    int // of the first line
	Rank    int // of the file's name; -1 if unknown
	PID     int // 0 if unknown
	Threads []Thread
}

// Thread is the stack of one thread, innermost first.
type Thread struct {
	Name   string
	Line   int
	Frames []evidence.Frame
}

// Main is the main thread: the one with that name, or the last, where faulthandler has it; nil without threads.
func (p *Process) Main() *Thread {
	for i := range p.Threads {
		if p.Threads[i].Name == "MainThread" {
			return &p.Threads[i]
		}
	}
	if len(p.Threads) == 0 {
		return nil
	}
	return &p.Threads[len(p.Threads)-1]
}

const (
	maxThreads = 4096
	maxFrames  = 256
)

var (
	process  = regexp.MustCompile(`^Process (\d+): `)
	spied    = regexp.MustCompile(`^Thread (?:\d+|0[xX][0-9a-fA-F]+) \((?:idle|active[^)]*)\)(?:: "(.*)")?$`)
	faulted  = regexp.MustCompile(`^(?:Current thread|Thread) 0x[0-9a-f]+(?: \[.*\])? \(most recent call first\):$`)
	spyFrame = regexp.MustCompile(`^ {4}(\S.*) \((.*?)(?::(\d+))?\)$`)
	frame    = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)
)

// Reader finds stacks among the lines of a file.
type Reader struct {
	File string
	Rank int
	All  []Process
	open bool // a thread's frames follow
	spy  bool // of py-spy
}

// Read reads the next line; number counts from 1.
func (r *Reader) Read(number int, line string) {
	line = strings.TrimRight(line, " \t")
	if r.open {
		if r.frame(line) {
			return
		}
		r.open = false
	}
	if !strings.Contains(line, "hread ") && !strings.HasPrefix(line, "Process ") {
		return
	}
	if m := process.FindStringSubmatch(line); m != nil {
		pid, _ := strconv.Atoi(m[1])
		r.begin(Process{Line: number, PID: pid})
		r.spy = true
		return
	}
	if m := spied.FindStringSubmatch(line); m != nil {
		r.thread(Thread{Name: m[1], Line: number}, true)
	} else if faulted.MatchString(line) {
		r.thread(Thread{Line: number}, false)
	}
}

func (r *Reader) begin(p Process) {
	if len(r.All) < maxThreads {
		p.File, p.Rank = r.File, r.Rank
		r.All = append(r.All, p)
	}
}

// thread begins a thread, of the process before it, or of one that the text does not name.
func (r *Reader) thread(t Thread, spy bool) {
	if len(r.All) == 0 || r.spy != spy {
		r.begin(Process{Line: t.Line})
		r.spy = spy
	}
	if p := &r.All[len(r.All)-1]; len(p.Threads) < maxThreads {
		p.Threads = append(p.Threads, t)
		r.open = true
	}
}

// frame reads a frame of the open thread, and reports whether the line is one.
func (r *Reader) frame(line string) bool {
	p := &r.All[len(r.All)-1]
	t := &p.Threads[len(p.Threads)-1]
	var f evidence.Frame
	if m := spyFrame.FindStringSubmatch(line); r.spy && m != nil {
		f.Function, f.File = m[1], m[2]
		f.Line, _ = strconv.Atoi(m[3])
	} else if m := frame.FindStringSubmatch(line); !r.spy && m != nil {
		f.Function, f.File = m[3], m[1]
		f.Line, _ = strconv.Atoi(m[2])
	} else {
		// Arguments and local variables of py-spy are between frames.
		return r.spy && strings.HasPrefix(line, "        ")
	}
	if len(t.Frames) < maxFrames {
		t.Frames = append(t.Frames, f)
	}
	return true
}
