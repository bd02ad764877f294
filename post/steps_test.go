package main

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/post/steps/stepstest"
)

// stepRuns are the runs of training steps that scripts know by name.
var stepRuns = map[string]func() stepstest.Run{
	"mpi": stepstest.Default,
	"mpi-again": func() stepstest.Run {
		r := stepstest.Default()
		r.Launch = 1
		return r
	},
	"gloo": func() stepstest.Run {
		r := stepstest.Default()
		r.Backend, r.Slower, r.Groups = "gloo", 1.5,
			[]step.Point{{Strategy: step.DDP, Type: coll.Float32, Progress: step.Thread}}
		return r
	},
	"cut-off": func() stepstest.Run {
		r := stepstest.Default()
		r.Edit = stepstest.CutOff(6, 12)
		return r
	},
	"rehearsed": func() stepstest.Run {
		r := stepstest.Default()
		r.Backend, r.Rehearsed, r.Groups = "nccl-rehearsal", true, []step.Point{{Strategy: step.DDP,
			Type: coll.Float32},
			{Strategy: step.FSDP, Type: coll.BFloat16}}
		return r
	},
	"hostile": hostileSteps,
}

// hostile is a name that steers terminals and ends tags.
const hostile = "\x1b[31m</script><img src=x onerror=alert(1)>|`\u202e"

// hostileSteps is a run with such a name in every possible place.
func hostileSteps() stepstest.Run {
	r := stepstest.Default()
	r.Edit = func(f *result.StepFile) {
		f.Run.Step.Model, f.Run.Step.About, f.Run.Step.Computing, f.Run.Step.Source = hostile, hostile, hostile, hostile
		f.Run.Backend.Library, f.Run.Device, f.Run.Variant, f.Run.Warnings = hostile, hostile, hostile,
			notice.Of(notice.Recorded{Text: hostile})
		for i := range f.Records {
			one := &f.Records[i]
			one.Stop, one.Trace, one.Notes, one.Warnings = hostile, hostile, []string{hostile},
				notice.Of(notice.Recorded{Text: hostile})
			for k := range one.Ops {
				one.Ops[k].Name, one.Timeline.Ops[k].Name = hostile, hostile
			}
			for k := range one.Timeline.Segments {
				one.Timeline.Segments[k].Name, one.Timeline.Segments[k].Work = hostile, hostile
			}
		}
		f.Records[0].Status, f.Records[0].Reason, f.Records[0].Figures = result.Failed, hostile, nil
		f.Records[1].Status, f.Records[1].Check = result.Wrong,
			result.Check{Result: "wrong", Wrong: 1, First: &result.Wrong1{Host: hostile, Want: hostile, Got: hostile}}
	}
	return r
}
