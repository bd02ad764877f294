package main

import (
	_ "embed"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/result"
	"busbar/rank/exit"
)

// faulted is a launch with a fault and what follows, a line of testdata/faults.txt.
type faulted struct {
	Name             string
	Fault            string // BUSBAR_REHEARSAL_FAULT
	Env, Args, Lacks string // more environment, more flags, and functions that the library lacks
	Code, OK         int
	Point            result.Status
	Words            []string // expected text
}

//go:embed testdata/faults.txt
var faults string

// The fault matrix of the NCCL backend: each phase with each possible fault, with real processes and simulated NCCL.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	for _, k := range golden.Table[faulted](t, faults) {
		for _, launcher := range []string{openMPI, meet} {
			t.Run(k.Name+" "+launcher, func(t *testing.T) {
				parallelOn(t, launcher)
				k.check(t, launcher)
			})
		}
	}
}

// check runs a launch with the fault.
func (k faulted) check(t *testing.T, launcher string) {
	out := t.TempDir()
	args := strings.Fields(k.Args)
	if k.Lacks != "" {
		args = append(args, "--nccl", lacking(t, k.Lacks))
	}
	deadline := "60s" // rows without a hang need no short deadline: the machine may be busy
	if k.Code == exit.Hang {
		deadline = hangDeadline
	}
	o := rankRun{mpirun: launcher, np: 3, env: []string{k.Env, "BUSBAR_REHEARSAL_FAULT=" + k.Fault},
		args: append(simulated("--collective all_reduce -b 1K -e 16K -f 4 -n 10 --deadline", deadline, "--out",
			out), args...)}.run(t)
	if o.code != k.Code && (k.Code >= 0 || o.code == 0) {
		t.Errorf("want exit code %d: %s", k.Code, o)
	}
	has(t, strings.ReplaceAll(o.stdout, "\n#   ", " ")+o.stderr, k.Words...)
	if k.OK == 0 {
		return
	}
	f := readOne(t, out)
	count := map[result.Status]int{}
	for _, r := range f.Records {
		count[r.Status]++
	}
	if count[result.OK] != k.OK || k.Point != "" && count[k.Point] != 1 || f.End == nil {
		t.Errorf("points are %v, wanted %d ok and one %q, and an end: %s", count, k.OK, k.Point, o)
	}
}
