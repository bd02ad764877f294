package lib

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Rank 2 hangs: the run of two ranks succeeds, and the script stops at that of three.
func TestDebugFindsTheSmallestRunThatHangs(t *testing.T) {
	p := install(t)
	p.fake("ldconfig", `seq -f "libz%g.so => /lib/libz%g.so" 1000; echo "libnccl.so.2 => /lib/libnccl.so.2"`)
	output := p.expect(4, "8B-all-ranks exited with 4",
		[]string{"BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=8", "NCCL_ALGO=Ring", "NCCL_API_TOKEN=hush", "OTHER=hush"},
		"debug.sh", "-np", "3", "--out", "d", "--deadline", "4", "--rehearse", "--backend", "nccl", "--collective",
		"all_reduce")
	for _, want := range []string{"8B-2-ranks exited with 0", "rank 2 on", "packed: "} {
		test.StrContains(t, output, want)
	}
	test.StrNotContains(t, output, "1MiB")
	out, err := exec.Command("tar", "-tzf", filepath.Join(p.dir, "d.tar.gz")).Output()
	must.NoError(t, err)
	for _, want := range []string{"d/summary.txt", "d/versions.txt", "d/environment.txt", "d/preflight/output.txt",
		"d/8B-all-ranks/output.txt", "d/8B-all-ranks/state-", "d/8B-all-ranks/results/profile_"} {
		test.StrContains(t, string(out), want)
	}
	if states := p.text("d/8B-all-ranks/state-*.txt"); strings.Count(states, "process ") < 3 ||
		!strings.Contains(states, "thread ") {
		t.Errorf("want the state of three ranks:\n%s", states)
	}
	test.StrContains(t, p.text("d/versions.txt"), "libnccl.so.2 => /lib/libnccl.so.2")
	kept := p.text("d/*.txt") + p.text("d/*/*")
	if !strings.Contains(kept, "NCCL_ALGO=Ring") || strings.Contains(kept, "hush") {
		t.Errorf("want NCCL_ALGO and no secret:\n%s", p.text("d/environment.txt"))
	}
}

func TestDebugUsage(t *testing.T) {
	p := install(t)
	p.expect(1, `--deadline is "soon"`, nil, "debug.sh", "--deadline", "soon")
	p.expect(1, `--deadline is "later"`, nil, "debug.sh", "--deadline=later")
	p.expect(1, "--out requires a value", nil, "debug.sh", "--out")
	p.expect(2, "cannot create /dev/null/d", nil, "debug.sh", "--out", "/dev/null/d")
	p.expect(1, "--host a requires mpirun", []string{"LAUNCHER=srun"}, "debug.sh", "--host", "a", "--out", "d")
	must.NoError(t, os.RemoveAll(filepath.Join(p.top, "slurm", "lib")))
	p.expect(2, "submit from the folder", nil, "debug.sh")
}
