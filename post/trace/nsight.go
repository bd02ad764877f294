package trace

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// nsight is an export of Nsight Systems during reading: first the GPU activities, then the host calls, since only
// calls that launched activities are needed.
type nsight struct {
	*database
	options Options
	file    *File
	session session

	processes map[int64]*process // by global thread id without the thread bits
	devices   []*nsightDevice    // by process and number

	payloads payloads
	nvtx     nvtx
}

// readNsight reads an export.
func readNsight(ctx context.Context, path string, o Options) (*File, error) {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.close()
	n := &nsight{database: db, options: o, processes: map[int64]*process{}, payloads: payloads{}}
	n.readSession()
	n.file = &File{Path: path, Format: Nsight, Tool: n.session.tool}
	n.readActivities()
	n.readPayloadSchemas()
	n.readNVTX()
	n.readCalls()
	n.readDiagnostics()
	n.finish()
	if _, damaged := errors.AsType[*sqlite.Error](db.err); damaged {
		return nil, fmt.Errorf("%w; export the report again", db.err)
	}
	return n.file, db.err
}

// finish joins the tables.
func (n *nsight) finish() {
	n.nvtx.assignCalls()
	for _, d := range n.devices {
		for i := range d.raw {
			d.device.Activities = append(d.device.Activities, d.raw[i].Activity)
		}
		d.raw = nil
		d.device.Names = d.names.texts
		n.file.Devices = append(n.file.Devices, d.device)
	}
	n.assignRanges()
	n.nameDevices()
	n.rankDevices()
	n.noteMissing()
}

// note adds a fact unless present.
func (f *File) note(note notice.Fact) {
	f.Notes = units.AddOnce(f.Notes, note)
}

// processOf and pidOf split an export's global thread id: 24 bits of thread, 24 bits of process, then the machine.
func processOf(global int64) int64 { return global &^ 0xffffff }
func pidOf(global int64) int64     { return global >> 24 & 0xffffff }
