package machine

import "testing"

func TestGrantedCPUs(t *testing.T) {
	own, _ := Affinity("/")
	mine, err := ParseCPUs(own)
	if err != nil {
		t.Fatal(err)
	}
	if got := GrantedCPUs(); !Within(mine, got) {
		t.Errorf("this process may run on %s, and is granted %v", own, got)
	}
	if after, _ := Affinity("/"); after != own {
		t.Errorf("asking has moved this thread from %s to %s", own, after)
	}
}
