package nccllog

import "testing"

// Every way in which a library named itself.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		line string
		want Version
	}{
		{"NCCL version 2.4.8+cuda10.1\n", Version{Library: NCCL, Text: "2.4.8", Code: 2408, CUDA: "10.1"}},
		{"[1,0]<stdout>:NCCL version 2.9.9+cuda11.2\n",
			Version{Library: NCCL, Text: "2.9.9", Code: 20909, CUDA: "11.2"}},
		{"a:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda13.0\n", Version{Library: NCCL, Text: "2.27.7", Code: 22707,
			CUDA: "13.0"}},
		{"a:1:1 [0] NCCL INFO NCCL version 2.30.3x-git-59426ba+cuda12.8\n",
			Version{Library: NCCLX, Text: "2.30.3x-git-59426ba", Code: 23003, CUDA: "12.8", Git: "59426ba"}},
		{"a:1:1 [0] NCCL INFO RCCL version 2.20.5+hip6.2 HEAD:d380693+\n",
			Version{Library: RCCL, Text: "2.20.5", Code: 22005,
				Git: "d380693+"}},
		{"RCCL version : 2.22.3-develop:7af0af5\n", Version{Library: RCCL, Text: "2.22.3-develop:7af0af5", Code: 22203,
			Git: "7af0af5"}},
	} {
		l := read(t, c.line+"a:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n")
		if len(l.Versions) != 1 {
			t.Errorf("%q: %+v", c.line, l.Versions)
			continue
		}
		got := l.Versions[0]
		got.Processes = nil
		if got.Library != c.want.Library || got.Text != c.want.Text || got.Code != c.want.Code ||
			got.CUDA != c.want.CUDA ||
			got.Git != c.want.Git {
			t.Errorf("%q: %+v, want %+v", c.line, got, c.want)
		}
	}
}

// Two libraries in one run are told apart, with who has which.
func TestTwoVersions(t *testing.T) {
	l := readAll(t, "a:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda13.0\n",
		"b:2:2 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n")
	if len(l.Versions) != 2 || l.Versions[0].Processes[0] != 0 || l.Versions[1].Processes[0] != 1 {
		t.Errorf("%+v", l.Versions)
	}
}
