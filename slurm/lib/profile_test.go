package lib

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

var one = []string{"--out", "p", "--rehearse", "--quiet", "--collective", "all_reduce", "-b", "1K", "-e", "1K", "-n",
	"5"}

// A fake nsys that records its command line, writes an empty report and becomes the program.
const nsys = `echo "$NCCL_DEBUG $NCCL_DEBUG_FILE $*" >>%s/calls.$$
while [ "$1" != --output ]; do shift; done
echo report >"$2.nsys-rep"
while [ "${1##*/}" != rank ]; do shift; done
exec "$@"`

func TestProfileNamesEachRank(t *testing.T) {
	p := install(t)
	p.fake("nsys", fmt.Sprintf(nsys, p.dir))
	output := p.expect(0, "nsys-ui", nil, "profile.sh", append([]string{"-np", "2", "--duration", "7"}, one...)...)
	p.has("p/reports/rank0000-*.nsys-rep", "p/reports/rank0001-*.nsys-rep", "p/results/*.jsonl", "p/machine.txt")
	calls := strings.Split(strings.TrimSpace(p.text("calls.*")), "\n")
	must.Len(t, 2, calls)
	for _, call := range calls {
		for _, want := range []string{`^INFO \S+/p/logs/nccl-rank000[01]-\S+\.log profile --output ` +
			`\S+/p/reports/rank000[01]-`, "--trace cuda,nvtx,osrt ",
			"--capture-range cudaProfilerApi --capture-range-end repeat --kill none", "--duration 7 ",
			"--cuda-memory-usage false", "rank --profile-range"} {
			if !regexp.MustCompile(want).MatchString(call) {
				t.Errorf("want %s in\n%s", want, call)
			}
		}
	}
	if !strings.Contains(output, "nsys stats --report cuda_gpu_kern_sum") ||
		!strings.Contains(p.text("p/results/*.jsonl"), `"variant":"profiled"`) {
		t.Errorf("want the variant profiled and nsys stats:\n%s", output)
	}
}

func TestProfileOfOneRank(t *testing.T) {
	p := install(t)
	p.fake("nsys", fmt.Sprintf(nsys, p.dir))
	p.expect(0, "", nil, "profile.sh",
		append([]string{"-np", "2", "--ranks", "1", "--duration", "0", "--trace", "cuda,nvtx"}, one...)...)
	call := p.text("calls.*")
	if strings.Count(call, "profile --output") != 1 || !strings.Contains(call, "reports/rank0001-") ||
		!strings.Contains(call, "--trace cuda,nvtx ") || strings.Contains(call, "--duration") {
		t.Errorf("nsys was called as\n%s", call)
	}
}

// The fake srun starts the ranks with mpirun.
func TestProfileUnderSlurm(t *testing.T) {
	p := install(t)
	p.fake("nsys", fmt.Sprintf(nsys, p.dir))
	p.fake("srun", fmt.Sprintf(`case $1 in --version | --mpi=list) exit ;; esac
echo "$*" >>%s/srun
while [ "${1##*/}" != profile.sh ]; do shift; done
exec %s/scripts/mpirun.sh -np 2 "$@"`, p.dir, p.top))
	p.expect(0, "nsys-ui", []string{"LAUNCHER=auto", "SLURM_JOB_ID=7", "SRUN_ARGS=--mpi=pmix --exact"}, "profile.sh",
		one...)
	test.StrHasPrefix(t, "--kill-on-bad-exit=1 --mpi=pmix --exact ", p.text("srun"))
	p.has("p/reports/rank0001-*.nsys-rep")
}

func TestProfileWithoutNsys(t *testing.T) {
	p := install(t)
	t.Setenv("PATH", pathWithout(t, "nsys"))
	p.expect(0, "nsys not found", nil, "profile.sh", append([]string{"-np", "2"}, one...)...)
	p.has("p/results/*.jsonl", "p/machine.txt")
	if found, _ := filepath.Glob(filepath.Join(p.dir, "p/reports/*")); len(found) > 0 {
		t.Errorf("reports without nsys: %q", found)
	}
}

func TestProfileUsage(t *testing.T) {
	p := install(t)
	p.expect(1, `--ranks is "first"`, nil, "profile.sh", "--ranks", "first")
	p.expect(1, `--duration is "1m"`, nil, "profile.sh", "--duration", "1m")
	p.expect(1, "results: ", nil, "profile.sh", "-np", "2", "--out=p", "--nonsense")
	p.expect(1, `LAUNCHER is "hand"`, []string{"LAUNCHER=hand"}, "profile.sh")
}
