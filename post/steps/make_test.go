package steps_test

import (
	"os"
	"testing"

	"busbar/post/steps/stepstest"
)

func TestMake(t *testing.T) {
	if d := os.Getenv("MAKE"); d != "" {
		stepstest.Save(t, d+"/all", everything().File())
		for n, fs := range files() {
			for _, f := range fs {
				stepstest.Save(t, d+"/"+n, f)
			}
		}
		r := stepstest.Default()
		r.Backend, r.Rehearsed = "nccl-rehearsal", true
		for i := range r.Groups {
			r.Groups[i].Progress = 0
		}
		r.Groups = r.Groups[:1]
		stepstest.Save(t, d+"/reh", r.File())
	}
}
