package trace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
)

// nsight is an export of Nsight Systems while it is read: first what ran on GPUs, then what the host called, since only
// calls that launched something of it are of interest.
type nsight struct {
	db      *database
	strings *stringTable
	options Options
	file    *File
	session session

	processes
	nodes graphNodes

	payloads payloads
	nvtx     nvtx
}

// readNsight reads an export. What is damaged is read as far as that goes.
func readNsight(ctx context.Context, path string, o Options) (*File, error) {
	db, err := openDatabase(ctx, path)
	if err != nil {
		return nil, err
	}
	defer db.close()
	if !isNsight(db) {
		return nil, fmt.Errorf("%w (a SQLite database without the tables of an export)", ErrNotTrace)
	}
	names, err := openStrings(ctx, db)
	if err != nil {
		return nil, err
	}
	defer names.close()
	n := &nsight{db: db, strings: names, options: o, processes: newProcesses()}
	if n.session, err = readSession(ctx, db); err != nil {
		return nil, err
	}
	n.file = &File{Path: path, Format: Nsight, Tool: n.session.tool}
	for _, step := range []func(context.Context) error{
		n.readActivities, n.readPayloadSchemas, n.readNVTX, n.readGraphNodes, n.readCalls, n.readDiagnostics,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return n.file, n.finish(ctx)
}

// isNsight tells an export from other databases. Tables are made as they are needed, so that none is in every export.
func isNsight(db *database) bool {
	if !db.has("StringIds") {
		return false
	}
	for table := range db.columns {
		switch {
		case strings.HasPrefix(table, "CUPTI_ACTIVITY_KIND_"), strings.HasPrefix(table, "TARGET_INFO_"),
			table == "NVTX_EVENTS",
			table == "META_DATA_EXPORT", table == "ANALYSIS_DETAILS":
			return true
		}
	}
	return false
}

// finish puts together what was read apart.
func (n *nsight) finish(ctx context.Context) error {
	n.nvtx.assignCalls()
	devices := n.sortedDevices()
	n.nvtx.assignRanges(&n.processes, devices)
	if err := n.nameDevices(ctx, devices); err != nil {
		return err
	}
	if err := n.rankDevices(ctx, devices); err != nil {
		return err
	}
	for _, d := range devices {
		n.file.Devices = append(n.file.Devices, d.device)
	}
	n.noteMissing()
	n.file.Cut = n.db.cut()
	return nil
}

// note adds a fact once.
func (f *File) note(note notice.Fact) {
	if !slices.Contains(f.Notes, note) {
		f.Notes = append(f.Notes, note)
	}
}

// processOf and threadOf take apart what an export calls a global thread: 24 bits of a thread, 24 of its process, and
// above them the machine.
func processOf(global int64) int64 { return global &^ 0xffffff }
func pidOf(global int64) int64     { return global >> 24 & 0xffffff }
