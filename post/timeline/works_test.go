package timeline

import (
	"slices"
	"testing"

	"busbar/post/trace"
)

// A GPU that another process only touched is no rank among others.
func TestADeviceThatOnlyCopiedCountsInNothing(t *testing.T) {
	stray := newGPU()
	stray.ID = 1
	stray.copied(trace.MemcpyHostToDevice, 7, 0, 5e6)
	b := NewBuilder(Options{})
	b.Add(&trace.File{Path: "a.json", Format: trace.Kineto,
		Devices: []*trace.Device{&stray.Device, ranOn(0, 1, "", 0)}})
	tl := b.Timeline()
	if len(tl.Devices) != 2 || !slices.Equal(tl.Working(), []int{0}) || tl.Across != nil {
		t.Errorf("%d devices, working %v, across %+v", len(tl.Devices), tl.Working(), tl.Across)
	}
	if notes := tl.Devices[1].Notes; len(notes) != 1 || notes[0].Code() != "only-copies" {
		t.Errorf("notes are %+v", notes)
	}
	if notes := tl.Devices[0].Notes; len(notes) != 0 {
		t.Errorf("notes of one that works are %+v", notes)
	}
	if !slices.Equal((&Timeline{Devices: make([]Device, 2)}).Working(), []int{0, 1}) {
		t.Error("where none works all are left")
	}
}
