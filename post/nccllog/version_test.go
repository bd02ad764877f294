package nccllog

import (
	"fmt"
	"testing"

	"github.com/shoenig/test"
)

// Every way in which a library named itself.
func TestVersions(t *testing.T) {
	const head = "a:1:1 [0] NCCL INFO "
	for line, want := range map[string]string{
		"NCCL version 2.4.8+cuda10.1":                      "NCCL 2.4.8 2408 10.1 ",
		"NCCL version 2.5.7+cudaCUDA_MAJOR.CUDA_MINOR":     "NCCL 2.5.7 2507  ",
		"[1,0]<stdout>:NCCL version 2.9.9+cuda11.2":        "NCCL 2.9.9 20909 11.2 ",
		head + "NCCL version 2.27.7+cuda13.0":              "NCCL 2.27.7 22707 13.0 ",
		head + "NCCL version 2.30.3x-git-59426ba+cuda12.8": "NCCLX 2.30.3x-git-59426ba 23003 12.8 59426ba",
		head + "RCCL version 2.20.5+hip6.2 HEAD:d380693+":  "RCCL 2.20.5 22005  d380693+",
		"RCCL version : 2.22.3-develop:7af0af5":            "RCCL 2.22.3-develop:7af0af5 22203  7af0af5",
	} {
		l := read(t, line+"\n"+head+"Bootstrap : Using eth0:10.0.0.1<0>\n")
		v := l.Versions[0]
		test.EqOp(t, want, fmt.Sprintf("%s %s %d %s %s", v.Library, v.Text, v.Code, v.CUDA, v.Git), test.Sprint(line))
	}
}

// Two libraries in one run are distinguished, with the processes of each.
func TestTwoVersions(t *testing.T) {
	l := read(t, "a:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda13.0\n",
		"b:2:2 [0] NCCL INFO NCCL version 2.26.2+cuda12.8\n")
	if len(l.Versions) != 2 || l.Versions[0].Processes[0] != 0 || l.Versions[1].Processes[0] != 1 {
		t.Errorf("%+v", l.Versions)
	}
}
