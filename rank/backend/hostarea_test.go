package backend

import (
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestHostArea(t *testing.T) {
	var a HostArea
	test.Len(t, 0, a.bytes())
	must.NoError(t, a.Reserve(4096))
	a.bytes()[0] = 7
	if err := a.Reserve(100); err != nil || len(a.bytes()) < 4096 || a.bytes()[0] != 7 {
		t.Error("less than there is changes the area", err)
	}
	if err := a.Reserve(1 << 62); err == nil || len(a.bytes()) < 4096 {
		t.Errorf("a failed reserve leaves %d bytes: %v", len(a.bytes()), err)
	}
	if err := a.Free(); err != nil || len(a.bytes()) != 0 {
		t.Error(err)
	}
}
