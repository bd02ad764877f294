package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/post/trace"
)

// ranOn is a device with one kernel, of a rank, process and host.
func ranOn(rank int, process int64, host string, id int) *trace.Device {
	g := newGPU()
	g.Rank, g.Process, g.Host, g.ID = rank, process, host, id
	g.ran(gemm, 7, 0, 1e6)
	return &g.Device
}

func TestFilesAreToldWithTheirNotes(t *testing.T) {
	b := NewBuilder(Options{Tool: "busbar", CommPattern: regexp.MustCompile("mine"),
		StepPattern: regexp.MustCompile("step")})
	silent := newGPU()
	silent.ID = 3
	for _, f := range []*trace.File{
		{Path: "a.json", Format: trace.Kineto, Tool: "torch.profiler", Cut: "it ends early",
			Devices: []*trace.Device{ranOn(0, trace.Unknown, "n1", 0)}},
		{Path: "b.sqlite", Format: trace.Nsight, Devices: []*trace.Device{&silent.Device},
			Notes: []notice.Fact{notice.PayloadsMissing{Command: "x"}}},
	} {
		b.Add(f)
	}
	tl := b.Timeline()
	if want := []File{{Path: "a.json", Format: "kineto", Tool: "torch.profiler", Cut: "it ends early"},
		{Path: "b.sqlite", Format: "nsight"}}; !slices.Equal(tl.Files, want) {
		t.Errorf("files are %+v, want %+v", tl.Files, want)
	}
	if want := (Note{notice.PayloadsMissing{Command: "x"}, 1}); !slices.Contains(tl.Notes, want) {
		t.Errorf("notes are %+v, %+v is not among them", tl.Notes, want)
	}
	if want := []Note{{notice.IdleDevice{}, 1}}; !slices.Equal(tl.Devices[1].Notes, want) {
		t.Errorf("notes of a device on which nothing ran are %+v", tl.Devices[1].Notes)
	}
	if tl.Tool != "busbar" || tl.Rule.CommPattern != "mine" || tl.Rule.StepPattern != "step" {
		t.Errorf("made by %q with %+v", tl.Tool, tl.Rule)
	}
}

// Devices stand by rank, then host, process and number; one label is never that of two.
func TestDevicesStandInOrderWithLabelsOfTheirOwn(t *testing.T) {
	labels := func(files ...[]*trace.Device) (labels []string) {
		b := NewBuilder(Options{})
		for i, devices := range files {
			b.Add(&trace.File{Path: fmt.Sprintf("dir/%d.json", i), Format: trace.Kineto, Devices: devices})
		}
		for _, d := range b.Timeline().Devices {
			labels = append(labels, d.Label)
		}
		return labels
	}
	type devices = []*trace.Device
	for what, c := range map[string]struct{ got, want []string }{
		"ranks": {labels(devices{ranOn(trace.Unknown, trace.Unknown, "", 5), ranOn(10, trace.Unknown, "", 0),
			ranOn(9, trace.Unknown, "", 1)}), []string{"rank 9", "rank 10", "GPU 5"}},
		"hosts, processes and devices": {labels(devices{ranOn(trace.Unknown, 4, "n2", 0), ranOn(trace.Unknown, 8,
			"n1", 0),
			ranOn(trace.Unknown, 7, "n1", 2), ranOn(trace.Unknown, 7, "n1", 1), ranOn(trace.Unknown, trace.Unknown,
				"n1", 9)}),
			[]string{"GPU 9", "GPU 1 (pid 7)", "GPU 2 (pid 7)", "GPU 0 (pid 8)", "GPU 0 (pid 4)"}},
		"a rank of two devices": {labels(devices{ranOn(0, trace.Unknown, "", 1), ranOn(0, trace.Unknown, "", 0)}),
			[]string{"rank 0, device 0", "rank 0, device 1"}},
		"a rank in two files": {labels(devices{ranOn(0, trace.Unknown, "", 1)}, devices{ranOn(0, trace.Unknown, "",
			1)}),
			[]string{"rank 0, device 1 in 0.json", "rank 0, device 1 in 1.json"}},
		"a device in two files": {labels(devices{ranOn(trace.Unknown, 5, "", 1)}, devices{ranOn(trace.Unknown, 5, "",
			1)}),
			[]string{"GPU 1 (pid 5) in 0.json", "GPU 1 (pid 5) in 1.json"}},
		"two ranks in two files": {labels(devices{ranOn(1, trace.Unknown, "", 0)}, devices{ranOn(0, trace.Unknown, "",
			0)}),
			[]string{"rank 0", "rank 1"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", what, c.got, c.want)
		}
	}
}
