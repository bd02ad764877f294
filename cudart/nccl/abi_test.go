//go:build cgo

package nccl

import (
	"strings"
	"testing"

	"github.com/shoenig/test"
)

func TestSymbols(t *testing.T) {
	there := map[string]bool{}
	for _, s := range load(t, "-DMINIMAL").Symbols() {
		if _, twice := there[s.Name]; twice {
			t.Errorf("%s is in the table twice", s.Name)
		}
		if s.Required && (!s.There || s.Since != 20300) {
			t.Errorf("%+v", s)
		}
		there[s.Name] = s.There
	}
	for name, want := range map[string]bool{"ncclGetVersion": true, "ncclAllReduce": true, "ncclSend": false,
		"busbar_rehearsal_phase": false} {
		if got, known := there[name]; got != want || !known {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestCheckConfig(t *testing.T) {
	f := load(t)
	for _, k := range []struct {
		looks, refuses int32
		looked         bool
		refused        string
	}{{0, 0, false, ""}, {1, 0, true, ""}, {1, 40, true, "40 bytes"},
		{1, 72, true, "72 bytes"}} {
		f.set(looks, k.looks)
		f.set(refuses, k.refuses)
		looked, err := f.CheckConfig(ID{})
		if looked != k.looked || (err == nil) != (k.refused == "") ||
			err != nil && !strings.Contains(err.Error(), k.refused) {
			t.Errorf("%+v: %t, %v", k, looked, err)
		}
	}
	test.EqOp(t, "remote process exited", f.ErrorText(6))
	_, err := load(t, "-DMINIMAL").CheckConfig(ID{})
	test.Error(t, err)
}
