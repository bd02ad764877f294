package nccllog

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/golden"

	"github.com/shoenig/test/must"
)

// read reads files of one run.
func read(t *testing.T, texts ...string) *Log {
	t.Helper()
	r := NewReader()
	for _, text := range texts {
		must.NoError(t, r.Add("x.log", strings.NewReader(text)))
	}
	l := r.Log()
	consistent(t, l)
	return l
}

// same compares what was read with testdata/read (-update writes it anew).
func same(t *testing.T, name string, read ...any) {
	t.Helper()
	text, err := json.MarshalIndent(read, "", "  ")
	must.NoError(t, err)
	golden.Text(t, filepath.Join("testdata", "read", strings.ReplaceAll(name, " ", "-")+".json"), string(text)+"\n")
}

// consistent checks every log: messages are counted once, and indices are valid.
func consistent(t *testing.T, l *Log) {
	t.Helper()
	n := l.Reading
	if n.Said < n.Understood+n.Damaged {
		t.Errorf("%d messages, but %+v", n.Said, n)
	}
	who := func(what string, all []int) {
		for _, p := range all {
			if p < 0 || p >= len(l.Processes) {
				t.Errorf("%s of process %d of %d", what, p, len(l.Processes))
			}
		}
	}
	comm := func(what string, c int) {
		if c < Unknown || c >= len(l.Communicators) {
			t.Errorf("%s of communicator %d of %d", what, c, len(l.Communicators))
		}
	}
	for _, v := range l.Versions {
		who("version", v.Processes)
	}
	for _, s := range l.Settings {
		who("setting", s.Processes)
	}
	for _, m := range l.Messages {
		who("message", m.Processes)
	}
	for _, c := range l.Communicators {
		for _, m := range c.Members {
			who("member", []int{m.Process})
		}
	}
	for _, v := range l.Transports {
		comm("transport", v.Comm)
	}
	for _, c := range l.Choices {
		comm("choice", c.Comm)
	}
	for _, c := range l.Calls {
		comm("calls", c.Comm)
		who("calls", []int{c.Process})
	}
	for _, s := range l.Sequences {
		comm("sequence", s.Comm)
	}
}
