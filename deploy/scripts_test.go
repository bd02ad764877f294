package deploy

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// night runs nightly.sh with programs that record how they are called. The launches exit with the given codes.
type night struct {
	launches []int
	compare  int // exit code of post compare
	baseline bool
	env      []string

	code  int
	calls []string
	left  []string // of the folder
}

func (n *night) run(t *testing.T) {
	t.Helper()
	path, dir := stubs(t, map[string]string{
		"rank": `echo "rank $*" >>"$LOG"; while [ "$1" != --out ]; do shift; done; mkdir -p "$2"
read -r code <"$CODES"; sed -i 1d "$CODES"; exit "$code"`,
		"post": `echo "post $*" >>"$LOG"; [ "$1" != compare ] || exit "$COMPARE"`,
	})
	folder, log, codes := filepath.Join(dir, "folder"), filepath.Join(dir, "log"), filepath.Join(dir, "codes")
	if n.baseline {
		must.NoError(t, os.MkdirAll(filepath.Join(folder, "baseline"), 0o755))
	}
	lines := strings.Trim(strings.ReplaceAll(fmt.Sprint(n.launches), " ", "\n"), "[]")
	must.NoError(t, os.WriteFile(codes, []byte(lines+"\n"), 0o644))
	env := append([]string{path, "LOG=" + log, "CODES=" + codes, fmt.Sprint("COMPARE=", n.compare), "LAUNCHES=2"},
		n.env...)
	_, n.code = run(t, env, "./nightly.sh", folder, "rank", "--sweep", "quick")
	text, _ := os.ReadFile(log)
	for line := range strings.Lines(string(text)) {
		n.calls = append(n.calls, strings.Join(strings.Fields(line)[:2], " "))
	}
	found, err := filepath.Glob(filepath.Join(folder, "*"))
	must.NoError(t, err)
	for _, path := range found {
		n.left = append(n.left, filepath.Base(path))
	}
}

func TestNightly(t *testing.T) {
	const launch = "rank --sweep"
	for name, c := range map[string]struct {
		night
		want      int
		wantCalls []string
		wantLeft  []string
	}{
		"first night": {night{launches: []int{0, 0}}, 0, []string{launch, launch}, []string{"baseline", "nights"}},
		"no regression": {night{launches: []int{0, 0}, baseline: true}, 0, []string{launch, launch, "post compare"},
			[]string{"baseline", "nights"}},
		"regression": {night{launches: []int{0, 0}, baseline: true, compare: 7}, 7,
			[]string{launch, launch, "post compare"}, []string{"baseline", "nights"}},
		"failed points": {night{launches: []int{6, 0}, baseline: true}, 6, []string{launch, launch, "post compare"},
			[]string{"baseline", "nights"}},
		"failed points in the first night": {night{launches: []int{0, 6}}, 6, []string{launch, launch},
			[]string{"nights"}},
		"hang": {night{launches: []int{4, 0}, baseline: true}, 4, []string{launch}, []string{"baseline", "nights"}},
		"second pod": {night{launches: []int{0, 0}, baseline: true, env: []string{"JOB_COMPLETION_INDEX=1"}}, 0,
			[]string{launch, launch}, []string{"baseline", "nights"}},
		"metrics": {night{launches: []int{0, 0}, baseline: true, compare: 7, env: []string{"METRICS=/metrics"}}, 7,
			[]string{launch, launch, "post export", "post compare"}, []string{"baseline", "nights"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := c.night
			n.run(t)
			if n.code != c.want || !slices.Equal(n.calls, c.wantCalls) || !slices.Equal(n.left, c.wantLeft) {
				t.Errorf("code %d, calls %q, files %q", n.code, n.calls, n.left)
			}
		})
	}
}

// pod is the environment of one pod of an Indexed Job.
func pod(index, pods, ranks, port int) []string {
	return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", index), fmt.Sprint("PODS=", pods), fmt.Sprint("RANKS=", ranks),
		"MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", port)}
}

func TestPodStartsItsRanks(t *testing.T) {
	out, code := run(t, pod(1, 3, 2, 1), "kubernetes/pod.sh", "bash", "-c",
		`echo "$RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE"`)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	if want := []string{"2 of 6, 0 of 2", "3 of 6, 1 of 2"}; code != 0 || !slices.Equal(lines, want) {
		t.Errorf("code %d, %q", code, lines)
	}
}

// TestPodStopsRanks: after a failure rank 0 would end without an error after ten minutes.
func TestPodStopsRanks(t *testing.T) {
	t.Parallel()
	out, code := run(t, append(pod(0, 1, 2, 1), "GRACE=1"), "kubernetes/pod.sh", "bash", "-c",
		`[ "$RANK" = 1 ] && exit 5; trap 'echo stopped; kill $!; exit 4' TERM; sleep 600 & wait`)
	if code != 4 || out != "stopped\n" {
		t.Errorf("code %d, %s", code, out)
	}
}

// TestPodEndsWithADiagnosis: pod.sh is process 1 and a rank crashes; rank 0 names it in the results.
func TestPodEndsWithADiagnosis(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--pid", "--fork", "true").CombinedOutput(); err != nil {
		t.Skipf("unshare: %v, %s", err, out)
	}
	bin, results := filepath.Join(needs.Programs(t), "bin"), t.TempDir()
	env := append(pod(0, 1, 3, freePort(t)), "PATH="+bin+":"+os.Getenv("PATH"), "BUSBAR_REHEARSAL_FAULT=crash@rank=2")
	out, code := run(t, env, "unshare", "--pid", "--fork", "kubernetes/pod.sh", "rank", "--simulate", "--backend",
		"nccl",
		"--collective", "all_reduce", "-b", "8", "-e", "8", "--quiet", "--out", results)
	found, err := filepath.Glob(filepath.Join(results, "*.jsonl"))
	if err != nil || len(found) != 1 || code != 5 { // a dead rank
		t.Fatalf("code %d, results %q %v\n%s", code, found, err, out)
	}
	text := read(t, found[0])
	if !strings.Contains(text, `"kind":"end"`) || !strings.Contains(text, `"code":"rank-gone"`) {
		t.Errorf("no end in the results:\n%s", text)
	}
}

func TestPodRequiresItsVariables(t *testing.T) {
	for _, missing := range []string{"PODS", "RANKS", "MASTER_ADDR", "JOB_COMPLETION_INDEX"} {
		env := slices.DeleteFunc(pod(0, 1, 1, 1), func(v string) bool { return strings.HasPrefix(v, missing+"=") })
		if out, code := run(t, env, "kubernetes/pod.sh", "true"); code == 0 || !strings.Contains(out, missing) {
			t.Errorf("without %s: code %d, %s", missing, code, out)
		}
	}
}

// freePort returns a port that no program uses.
func freePort(t *testing.T) int {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer free.Close()
	return free.Addr().(*net.TCPAddr).Port
}

// measure starts two pods with two ranks each, which meet by TCP and measure with the simulation; it returns the folder
// of the results.
func measure(t *testing.T, flags ...string) string {
	t.Helper()
	bin := filepath.Join(needs.Programs(t), "bin")
	port := freePort(t)
	results := t.TempDir()
	args := append([]string{"rank", "--simulate", "--backend", "nccl", "--allow-shared-gpu",
		"--collective", "all_reduce",
		"-b", "8", "-e", "8", "--quiet", "--out", results}, flags...)
	var waiting sync.WaitGroup
	for index := range 2 {
		waiting.Go(func() {
			cmd := exec.Command("kubernetes/pod.sh", args...)
			cmd.Env = append(pod(index, 2, 2, port), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+results)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("pod %d: %v\n%s", index, err, out)
			}
		})
	}
	waiting.Wait()
	return results
}

func TestPodsMeasure(t *testing.T) {
	t.Parallel()
	results := measure(t, "-n", "1", "-w", "1")
	if found, err := filepath.Glob(filepath.Join(results, "*_world4_*.jsonl")); err != nil || len(found) != 1 {
		t.Errorf("results %q %v", found, err)
	}
}

// TestMetricsAreDocumented: what post exports of a run has the metrics of docs/operations.md and no others, and each
// begins with its help and its type. The dashboard and users depend on the names.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(filepath.Join(needs.Programs(t), "bin/post"), "export", "--format", "prometheus",
		"../examples/cpu-quick").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var exported []string
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, line := range lines {
		name, isHead := strings.CutPrefix(line, "# HELP ")
		if name, _, _ = strings.Cut(name, " "); isHead {
			exported = append(exported, name)
			if len(lines) < i+3 || lines[i+1] != "# TYPE "+name+" gauge" || !strings.HasPrefix(lines[i+2], name+"{") {
				t.Errorf("%s is followed by %q", line, lines[i+1:min(i+3, len(lines))])
			}
		} else if !strings.HasPrefix(line, "# TYPE ") && !strings.HasPrefix(line, exported[len(exported)-1]+"{") {
			t.Errorf("no head above %s", line)
		}
	}
	var documented []string
	_, section, _ := strings.Cut(read(t, "../docs/operations.md"), "## Metrics")
	for _, m := range regexp.MustCompile("`(busbar_[a-z_]+)`").FindAllStringSubmatch(section, -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(exported)
	slices.Sort(documented)
	test.SliceEqOp(t, documented, exported)
}

// TestNights: each night has a folder of its own, unless NIGHT names it; 30 are kept. A night that ended early does not
// become the baseline.
func TestNights(t *testing.T) {
	t.Parallel()
	path, dir := stubs(t, map[string]string{
		"rank": `while [ "$1" != --out ]; do shift; done; mkdir -p "$2"; echo "$CODE" >"$2/file"; exit "$CODE"`,
		"post": ""})
	nights := filepath.Join(dir, "folder/nights")
	for i := range 40 {
		old := filepath.Join(nights, fmt.Sprint("old", i))
		must.NoError(t, os.MkdirAll(old, 0o755))
		then := time.Unix(int64(i), 0)
		must.NoError(t, os.Chtimes(old, then, then))
	}
	night := func(env ...string) int {
		_, code := run(t, append(env, path, "LAUNCHES=1"), "./nightly.sh", filepath.Join(dir, "folder"), "rank")
		return code
	}
	must.EqOp(t, 4, night("CODE=4", "NIGHT=early"))
	must.EqOp(t, 0, night("CODE=0"))
	test.EqOp(t, "0\n", read(t, filepath.Join(dir, "folder/baseline/file")))
	found, err := filepath.Glob(nights + "/*")
	if err != nil || len(found) != 29 || !slices.Contains(found, nights+"/early") ||
		slices.Contains(found, nights+"/old11") || !slices.Contains(found, nights+"/old12") {
		t.Errorf("%v, %d nights: %q", err, len(found), found)
	}
	test.EqOp(t, 6, night("CODE=6"))
	if found, _ = filepath.Glob(nights + "/20*T*Z"); len(found) != 1 {
		t.Errorf("nights named by time: %q", found)
	}
}
