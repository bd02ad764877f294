package stack_test

import (
	"strings"
	"testing"

	"busbar/post/hang/evidence"
	"busbar/post/hang/stack"

	"github.com/shoenig/test"
)

func read(text string) []stack.Process {
	r := &stack.Reader{File: "x", Rank: 2}
	for i, line := range strings.Split(text, "\n") {
		r.Read(i+1, line)
	}
	return r.All
}

const spied = `Process 25078: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 25611 (active+gil): "Thread-1"
    dump (job.py:10)
Thread 25078 (idle): "MainThread"
    load_batch (data.py:81)
        Arguments:
            n: 4
    <module> (train.py:24)

Process 7: python other.py

Thread 0x7F01 (idle)
    wait (threading.py:1401)
`

func TestReadPySpy(t *testing.T) {
	all := read(spied)
	if len(all) != 2 || all[0].PID != 25078 || all[0].Rank != 2 || len(all[0].Threads) != 2 || all[1].PID != 7 {
		t.Fatalf("%+v", all)
	}
	main := all[0].Main()
	if main.Name != "MainThread" || main.Line != 6 || len(main.Frames) != 2 ||
		main.Frames[0] != (evidence.Frame{Function: "load_batch", File: "data.py", Line: 81}) {
		t.Errorf("%+v", main)
	}
	if other := all[1].Main(); len(other.Frames) != 1 || other.Frames[0].Function != "wait" {
		t.Errorf("%+v", other)
	}
}

func TestReadFaulthandler(t *testing.T) {
	all := read(`step 5
Fatal Python error: Aborted

Thread 0x00007f0a (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait

Current thread 0x00007f0b (most recent call first):
  File "train.py", line 3 in step
  File "train.py", line 9 in <module>
end`)
	if len(all) != 1 || len(all[0].Threads) != 2 {
		t.Fatalf("%+v", all)
	}
	test.EqOp(t, (evidence.Frame{Function: "step", File: "train.py", Line: 3}), all[0].Main().Frames[0])
}

func TestReadOtherText(t *testing.T) {
	if all := read("Thread pool (idle): started\nProcess rank 3\n    f (x.py:3)\n"); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(spied)
	f.Add("Thread 0x00007f0a (most recent call first):\n  File \"x.py\", line 3 in f\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range read(text) {
			if m := p.Main(); m != nil && (m.Line < 1 || m.Line < p.Line) {
				t.Fatalf("%+v", p)
			}
		}
	})
}
