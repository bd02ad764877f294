// Package test tests gpu.sh, which checks a machine with GPUs, without one.
package test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// script runs lines of bash after the functions of gpu.sh, with a step's folder in dir, and returns its output and
// exit code.
func script(t *testing.T, lines string) (output string, code int) {
	t.Helper()
	c := exec.Command("bash", "-c", "source ./gpu.sh; dir=$1 out=$1 step_id=none\n"+lines, "gpu_test", t.TempDir())
	out, err := c.CombinedOutput()
	if e := new(exec.ExitError); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// table is a log of nccl-tests with the time of each message size, in microseconds.
func table(t *testing.T, pid int, us func(size int) float64) string {
	t.Helper()
	text := "# nccl-tests version 2.17.8 nccl-headers=22707 nccl-library=22707\n#\n#  Rank  0 Group  0 Pid 7 on host " +
		"device  0 [0000:10:00] A\n" +
		fmt.Sprintf("#  Rank  1 Group  0 Pid %d on host device  1 [0000:11:00] A\n#\n", pid) +
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   " +
		"busbw  #wrong\n"
	for size := 8; size <= 1<<20; size *= 4 {
		x := us(size)
		text += fmt.Sprintf("%12d %12d float sum -1 %.2f 0.00 0.00 N/A %.2f 0.00 0.00 N/A\n", size, size/4, x, x)
	}
	return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0\n"
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	must.NoError(t, err)
}

// A difference counts if the launches are significant, at any size; launches that vary by more than they differ are
// not.
func TestCompareByInterval(t *testing.T) {
	needs.Programs(t)
	noise := []float64{1, 1.004, 0.997, 1.002, 0.999}
	scatter := []float64{1, 1.3, 0.8, 1.15, 0.9}
	for name, k := range map[string]struct {
		noise  []float64
		slower func(size int) float64
		differ string
		code   int
	}{
		"equal": {noise, func(int) float64 { return 1 }, "0 of 18", 0},
		"slower at small sizes": {noise, func(size int) float64 { return 1 + 0.2*float64(min(1, 512/size)) },
			"8 of 18", 1},
		"faster everywhere":              {noise, func(int) float64 { return 0.8 }, "18 of 18", 1},
		"slower by less than 2 %":        {noise, func(int) float64 { return 1.01 }, "0 of 18", 0},
		"differ by less than the spread": {scatter, func(int) float64 { return 1.05 }, "0 of 18", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, n := range k.noise {
				writeFile(
					t,
					fmt.Sprintf("%s/nccl-tests/%d", dir, i),
					table(t, i, func(size int) float64 { return n * float64(100+size/100) }),
				)
				m := k.noise[(i+2)%len(k.noise)]
				writeFile(
					t,
					fmt.Sprintf("%s/rank/%d", dir, i),
					table(t, 10+i, func(size int) float64 { return m * k.slower(size) * float64(100+size/100) }),
				)
			}
			output, code := script(t, "compare_logs "+dir+"/nccl-tests "+dir+"/rank")
			if code != k.code || !strings.Contains(output, k.differ+" points differ significantly") {
				t.Errorf("exit code %d, want %d and %s:\n%s", code, k.code, k.differ, output)
			}
		})
	}
}

func TestNCCLTestsRunsComparable(t *testing.T) {
	for _, k := range []struct {
		ranks   int
		version string
		code    int
	}{{2, "2.27.7", 0}, {4, "2.27.7", 1}, {1, "2.27.7", 1}, {2, "2.28.9", 1}} {
		log := filepath.Join(t.TempDir(), "log")
		writeFile(t, log, table(t, 1, func(int) float64 { return 1 }))
		output, code := script(t, fmt.Sprintf("check_log %s %d %s", log, k.ranks, k.version))
		if code != k.code || (k.code != 0) != strings.Contains(output, "problem: ") {
			t.Errorf("%+v: exit code %d: %s", k, code, output)
		}
	}
	log := filepath.Join(t.TempDir(), "log")
	writeFile(t, log, strings.Replace(table(t, 1, func(int) float64 { return 1 }), "nccl-library=22707", "", 1))
	if output, code := script(t, "check_log "+log+" 2 2.27.7"); code == 0 {
		t.Errorf("a log without the version of NCCL: %s", output)
	}
}

// Devices and memory come from NCCL's own log, in the lines that it has had since 2.14.
func TestNCCLLog(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir+"/nccl-log.a", `a:1:1 [0] NCCL INFO transport.cc:9 Cuda Alloc Size 4194304 pointer 0x7f
a:1:1 [1] NCCL INFO comm 0x55 rank 1 nranks 2 cudaDev 1 busId 1b000 commId 0x9 - Init COMPLETE
a:1:1 [1] NCCL INFO p2p.cc:9 Cuda Alloc Size 2097152 pointer 0x7f
a:1:1 [1] NCCL INFO Allocated shareable buffer 0x7f size 6291456 ipcDesc 0x7f
`)
	writeFile(
		t,
		dir+"/nccl-log.b",
		"a:2:2 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId a1000 commId 0x9 - "+
			"Init COMPLETE\n",
	)
	writeFile(t, dir+"/x.jsonl", `{"kind":"run"}
{"kind":"rank","rank":0,"host":"a","device":"GPU","pci":"0000:A1:00.0","uuid":"GPU-6"}
{"kind":"rank","rank":1,"host":"a","device":"GPU","pci":"0000:1b:00.0","uuid":"GPU-7"}
`)
	output, _ := script(
		t,
		"nccl_devices "+dir+"/nccl-log.*; rank_devices "+dir+"/x.jsonl; nccl_memory "+dir+"/nccl-log.a",
	)
	test.EqOp(t, "0 a1000\n1 1b000\n0 a1000\n1 1b000\n4 8\n", output)
}

// A step that does not end is stopped with all that it started, and the next one has its turn.
func TestStepTimeout(t *testing.T) {
	out := filepath.Join(t.TempDir(), "check")
	c := exec.Command("bash", "-c", `source ./gpu.sh
simulated=1 LIMITS=(endless:1 after:20) steps=(endless after)
endless() { echo "$BASHPID" >"$dir/pid"; sleep 4321 & sleep 4321; }
after() { [ -z "$(step_id=$$.endless; step_processes)" ] || problem "processes are left"; }
main --out "$1"`, "gpu_test", out)
	output, _ := c.CombinedOutput()
	test.EqOp(t, 1, c.ProcessState.ExitCode(), test.Sprint(output))
	summary, _ := os.ReadFile(filepath.Join(out, "summary.txt"))
	lines := strings.Split(string(summary), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "FAILED   endless") ||
		!strings.HasPrefix(lines[1], "passed   after") {
		t.Errorf("summary: %s\n%s", summary, output)
	}
}

// An interrupt ends the step and its processes, and leaves a page and an archive.
func TestInterrupt(t *testing.T) {
	out := filepath.Join(t.TempDir(), "check")
	c := exec.Command("bash", "-c", `source ./gpu.sh
simulated=1 LIMITS=(endless:600) steps=(endless)
endless() { sleep 4321 & kill "$$"; sleep 4321; }
main --out "$1"`, "gpu_test", out)
	output, _ := c.CombinedOutput()
	page, err := os.ReadFile(filepath.Join(out, "report.md"))
	if code := c.ProcessState.ExitCode(); code != 130 || err != nil ||
		!strings.Contains(string(page), "| endless | FAILED |") {
		t.Errorf("exit code %d, %v: %s\n%s", code, err, page, output)
	}
	archived(t, out+".tar.gz")
}

// The limits of all steps and half a minute for the page make a quarter of an hour.
func TestTotalTimeLimit(t *testing.T) {
	output, _ := script(
		t,
		`for name in "${steps[@]}"; do declare -F "$name" >/dev/null || echo "no step $name"; done; limit `+
			`"${steps[-1]}"; echo "$started"`,
	)
	var sum, started int
	if n, err := fmt.Sscan(output, &sum, &started); n != 2 || sum-started > 15*60-30 {
		t.Errorf("%d s, %v: %s", sum-started, err, output)
	}
}

// checkWith runs one step of the simulated check with a replacement of nccl-tests, and returns the page and the exit
// code.
func checkWith(t *testing.T, flags ...string) (page string, code int) {
	t.Helper()
	needs.Command(t, "mpicc.openmpi", "to build a replacement of nccl-tests")
	needs.File(t, "../lib/rehearsal/libnccl.so.2", "make build builds it")
	dir := t.TempDir()
	perf := filepath.Join(dir, "all_reduce_perf")
	args := append(
		[]string{
			"-o",
			perf,
			"testdata/all_reduce_perf.c",
			"../lib/rehearsal/libnccl.so.2",
			"-Wl,-rpath-link,../lib/rehearsal",
		},
		flags...)
	if output, err := exec.Command("mpicc.openmpi", args...).CombinedOutput(); err != nil {
		t.Fatalf("mpicc: %v\n%s", err, output)
	}
	out := filepath.Join(dir, "check")
	c := exec.Command("bash", "./gpu.sh", "--rehearse", "--only", "nccl_tests", "--nccl-tests", perf, "--out", out)
	c.Env = append(os.Environ(), "MPIRUN=mpirun.openmpi")
	output, _ := c.CombinedOutput()
	text, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if names := archived(t, out+".tar.gz"); !strings.Contains(names, "check/report.md\n") ||
		!strings.Contains(names, "check/nccl_tests/log.txt\n") {
		t.Errorf("the archive has\n%s", names)
	}
	return string(text), c.ProcessState.ExitCode()
}

// archived lists the files of an archive.
func archived(t *testing.T, path string) (names string) {
	t.Helper()
	f, err := os.Open(path)
	must.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		must.NoError(t, err)
		names += h.Name + "\n"
	}
}

// The replacement of nccl-tests uses the world and library of rank, and the page has the comparison.
func TestNCCLTestsInOneWorld(t *testing.T) {
	page, code := checkWith(t)
	if code != 0 || !strings.Contains(page, "Comparison in step nccl_tests") ||
		!strings.Contains(page, "| nccl_tests | passed |") ||
		!strings.Contains(page, "nccl-library=22707") {
		t.Errorf("exit code %d:\n%s", code, page)
	}
}

func TestNCCLTestsRunsDiffer(t *testing.T) {
	needs.File(t, "../lib/rehearsal/libnccl.so.2", "make build makes it")
	other := t.TempDir() // another file of the same version
	for _, name := range []string{"libnccl.so.2", "libcuda.so.1"} {
		data, err := os.ReadFile("../lib/rehearsal/" + name)
		must.NoError(t, err)
		writeFile(t, filepath.Join(other, name), string(data))
	}
	for flag, want := range map[string]string{"-Wl,--disable-new-dtags,-rpath," + other: "nccl-tests loads " + other,
		"-DSINGLE": "as a world of 1", "-DVERSION=21805": "uses NCCL 2.18.5"} {
		if page, code := checkWith(t, flag); code != 1 || !strings.Contains(page, want) ||
			!strings.Contains(page, "| nccl_tests | FAILED |") {
			t.Errorf("%s: exit code %d:\n%s", flag, code, page)
		}
	}
}

// With --anonymize the archive has no host names, and the folder keeps them.
func TestAnonymizedArchive(t *testing.T) {
	out, code := script(t, `top=$dir/top anonymize=1 out=$dir/check
mkdir -p "$top/bin" "$out"
echo 'gpu01:1:2 [0] NCCL INFO x' >"$out/a.log"
printf '#!/bin/sh\nmkdir "$3/check" && echo "$1 $2" >"$3/check/a.log"\n' >"$top/bin/post"
chmod +x "$top/bin/post"
pack && tar -xzOf "$out.tar.gz" ./check/a.log && cat "$out/a.log"`)
	if want := "anonymize -o\ngpu01:1:2 [0] NCCL INFO x\n"; out != want || code != 0 {
		t.Errorf("%q and exit code %d, want %q", out, code, want)
	}
}
