package timeline

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unique"

	"busbar/internal/notice"
	"busbar/post/trace"
)

// factsSchema is the version of facts files. It changes with their fields and with the analysis of a device, so that
// all facts of a timeline are of one kind.
const factsSchema = 1

// factsFile is the JSON in a facts file: what a timeline keeps of one trace. Before it are a line with the schema, one
// with the program, and then it is gzip.
type factsFile struct {
	*reduced
	Notes   []factsNotice
	Devices []factsDevice
}

// factsNotice is a notice that can be read back.
type factsNotice struct {
	Severity notice.Severity
	At       notice.Location
	Fact     notice.Kept
	Count    int
}

// factsDevice is a device with what its own JSON lacks.
type factsDevice struct {
	*Device
	Notes  []factsNotice `json:"notes"`
	Strips []Strip
	Names  []operator
	Times  []byte          // of each operator by step; varints
	Calls  [8][]byte       // the numbers of Device.seen, each as differences; varints
	Splits []*trace.Splits // of each call; empty if none has any
	Origin int64
}

// numbers are the numbers of a call. A call that nothing hides has its own time as exposed: then -1 replaces it.
func (s *seen) numbers() [8]int64 {
	exposed := s.exposed
	if exposed == s.end-s.start {
		exposed = -1
	}
	return [...]int64{s.start, s.end - s.start, exposed, s.seq, int64(s.step), int64(s.collective), int64(s.group),
		int64(s.stream)}
}

func seenOf(n [8]int64) seen {
	s := seen{start: n[0], end: n[0] + n[1], exposed: n[2], seq: n[3], step: int32(n[4]), collective: int32(n[5]),
		group: int32(n[6]), stream: int32(n[7])}
	if s.exposed < 0 {
		s.exposed = n[1]
	}
	return s
}

// facts returns the content of a facts file.
func (r *reduced) facts() factsFile {
	f := factsFile{reduced: r, Notes: kept(r.notes)}
	for i := range r.devices {
		d := &r.devices[i]
		out := factsDevice{Device: d, Notes: kept(d.Notes), Strips: d.strips, Names: d.operators,
			Origin: d.origin}
		for _, o := range d.operators {
			for _, ns := range o.Steps {
				out.Times = binary.AppendVarint(out.Times, ns)
			}
		}
		var last [8]int64
		for i := range d.seen {
			now := d.seen[i].numbers()
			for n, v := range now {
				out.Calls[n] = binary.AppendVarint(out.Calls[n], v-last[n])
			}
			last = now
			if s := d.seen[i].splits; s != nil {
				out.Splits = slices.Grow(out.Splits, len(d.seen))[:len(d.seen)]
				out.Splits[i] = s
			}
		}
		f.Devices = append(f.Devices, out)
	}
	return f
}

// write writes a facts file.
func (r *reduced) write(w io.Writer, tool string) error {
	if _, err := fmt.Fprintf(w, "%s%d\n%s\n", trace.FactsMagic, factsSchema, tool); err != nil {
		return err
	}
	z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // a valid level
	return errors.Join(json.NewEncoder(z).Encode(r.facts()), z.Close())
}

// readFacts reads a facts file from its first line on.
func readFacts(from io.Reader) (*reduced, error) {
	r := bufio.NewReader(from)
	line, _ := r.ReadString('\n')
	schema := 0
	_, _ = fmt.Sscanf(line, trace.FactsMagic+"%d\n", &schema)
	if schema > factsSchema {
		return nil, notice.Fail(notice.NewerFormat{Format: schema, Reads: factsSchema})
	}
	_, _ = r.ReadString('\n') // the program
	z, err := gzip.NewReader(r)
	if err != nil || schema < factsSchema {
		return nil, errDamaged
	}
	text, err := io.ReadAll(io.LimitReader(z, mostFacts)) // the checksum comes last
	if err != nil {
		return nil, errDamaged
	}
	return parseFacts(text)
}

// mostFacts exceeds the bytes of any real facts file when unpacked.
const mostFacts = 1 << 30

var errDamaged = errors.New("this facts file is damaged, incomplete or of an older version: extract its trace again")

func parseFacts(text []byte) (*reduced, error) {
	f := factsFile{reduced: &reduced{}}
	if json.Unmarshal(text, &f) != nil {
		return nil, errDamaged
	}
	f.notes = notices(f.Notes)
	for i := range f.Devices {
		in := &f.Devices[i]
		d := in.Device
		if d == nil {
			return nil, errDamaged
		}
		d.Notes, d.strips, d.operators, d.origin = notices(in.Notes), in.Strips, in.Names, in.Origin
		if !d.readTimes(in.Times) || !d.readCalls(in.Calls) || !d.consistent() || len(in.Splits) > len(d.seen) {
			return nil, errDamaged
		}
		for i, s := range in.Splits {
			d.seen[i].splits = s
		}
		f.devices = append(f.devices, *d)
	}
	return f.reduced, nil
}

// varints returns the numbers in b, those before the first that is damaged.
func varints(b []byte) (all []int64) {
	for len(b) > 0 {
		v, size := binary.Varint(b)
		if size <= 0 {
			break
		}
		all, b = append(all, v), b[size:]
	}
	return slices.Clip(all)
}

// readTimes sets the times of operators; ok is false if they are not one for each step and one outside steps.
func (d *Device) readTimes(b []byte) (ok bool) {
	times, n := varints(b), len(d.Steps)+1
	if len(times) != n*len(d.operators) {
		return false
	}
	for i := range d.operators {
		o := &d.operators[i]
		o.Name = unique.Make(o.Name).Value() // the same on many ranks
		o.Steps, times = times[:n:n], times[n:]
	}
	return true
}

// readCalls sets the calls; ok is false if columns differ in length.
func (d *Device) readCalls(columns [8][]byte) (ok bool) {
	var all [8][]int64
	for n, b := range columns {
		if all[n] = varints(b); len(all[n]) != len(all[0]) {
			return false
		}
	}
	d.seen = make([]seen, len(all[0]))
	var last [8]int64
	for i := range d.seen {
		for n := range last {
			last[n] += all[n][i]
		}
		d.seen[i] = seenOf(last)
	}
	return true
}

// consistent reports whether all indexes exist.
func (d *Device) consistent() bool {
	within := func(i, n int) bool { return i >= 0 && i < n }
	for _, s := range d.strips {
		if !within(s.Step+1, len(d.Steps)+1) {
			return false
		}
	}
	for _, s := range d.seen {
		if !within(int(s.step)+1, len(d.Steps)+1) || !within(int(s.collective), len(d.Collectives)) ||
			!within(int(s.group), len(d.Groups)) {
			return false
		}
	}
	return true
}

func kept(all []notice.Notice) (out []factsNotice) {
	for _, n := range all {
		out = append(out, factsNotice{n.Severity, n.At, notice.Kept{Fact: n.Fact}, n.Count})
	}
	return out
}

func notices(all []factsNotice) (out []notice.Notice) {
	for _, n := range all {
		if n.Fact.Fact != nil {
			out = append(out, notice.Notice{Severity: n.Severity, At: n.At, Fact: n.Fact.Fact, Count: n.Count})
		}
	}
	return out
}
