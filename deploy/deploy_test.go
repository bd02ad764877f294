// Package deploy holds images, manifests and units to run busbar regularly. Its tests run the scripts, and check that
// what the files start exists. The modules kubernetes/test and grafana/test check files with the types of others.
package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"gopkg.in/yaml.v3"
)

// run runs a program with variables beside PATH, and returns its output and exit code.
func run(t *testing.T, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// stubs makes programs of shell text in a folder and returns the variable PATH with it.
func stubs(t *testing.T, programs map[string]string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range programs {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+text), 0o755))
	}
	return "PATH=" + dir + ":" + os.Getenv("PATH"), dir
}

// acceptsFlags checks that rank plans the run of a command line, with simulated GPUs.
func acceptsFlags(t *testing.T, where string, words []string) {
	t.Helper()
	rank := filepath.Join(needs.Programs(t), "bin/rank")
	out, err := exec.Command(rank, append(slices.Clone(words), "--list", "--simulate")...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: rank %v: %s", where, words, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	return string(text)
}

// arguments calls found with the command line of each container, at any depth of a manifest.
func arguments(value any, found func(words []string)) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			arguments(item, found)
		}
	case map[string]any:
		var words []string
		for _, key := range []string{"command", "args"} {
			list, _ := v[key].([]any)
			for _, word := range list {
				text, _ := word.(string)
				words = append(words, text)
			}
		}
		if len(words) > 0 {
			found(words)
		}
		for _, inner := range v {
			arguments(inner, found)
		}
	}
}

// TestManifestsStartRank: what the containers start is in the image, and rank accepts its flags.
func TestManifestsStartRank(t *testing.T) {
	files, err := filepath.Glob("kubernetes/*.yaml")
	must.NoError(t, err)
	ranks := 0
	for _, file := range files {
		decoder := yaml.NewDecoder(strings.NewReader(read(t, file)))
		for {
			var document any
			if err := decoder.Decode(&document); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			arguments(document, func(words []string) {
				at := slices.IndexFunc(words, func(w string) bool { return filepath.Base(w) == "rank" })
				if at < 0 {
					return
				}
				ranks++
				acceptsFlags(t, file, words[at+1:])
				if strings.HasPrefix(words[at], "/") && words[at] != "/opt/busbar/bin/rank" {
					t.Errorf("%s starts %s", file, words[at])
				}
			})
		}
	}
	test.EqOp(t, 5, ranks)
}

// TestImageSourcesExist: the files that the Containerfile and the definition copy exist.
func TestImageSourcesExist(t *testing.T) {
	var sources []string
	for _, m := range regexp.MustCompile(`(?m)^COPY ((?:[^- \n]\S* )+)\S+$`).FindAllStringSubmatch(
		read(t, "container/Containerfile"), -1) {
		sources = append(sources, strings.Fields(m[1])...)
	}
	definition := read(t, "container/busbar.def")
	for _, m := range regexp.MustCompile(`(?m)^    (\S+) /busbar/(\S+)$`).FindAllStringSubmatch(definition, -1) {
		sources = append(sources, m[1])
		test.EqOp(t, m[2], m[1])
	}
	if len(sources) < 15 {
		t.Fatalf("only %q", sources)
	}
	for _, source := range sources {
		_, err := os.Stat(filepath.Join("..", source))
		test.NoError(t, err)
	}
	for _, section := range []string{"Stage: programs", "Stage: image", "%files from programs", "%post",
		"%environment", "%runscript", "%test"} {
		test.StrContains(t, definition, "\n"+section+"\n", test.Sprint(section))
	}
}

// TestSlurmExamplesStartRank: the job scripts start rank in the image, which accepts its flags.
func TestSlurmExamplesStartRank(t *testing.T) {
	path, _ := stubs(t, map[string]string{"srun": `printf '%s\n' "$@"`})
	for script, want := range map[string]string{"pyxis.sh": "--container-image=/images/busbar",
		"apptainer.sh": "/images/busbar"} {
		out, code := run(t, []string{path, "SLURM_JOB_ID=7", "IMAGE=/images/busbar"}, "bash", "-c",
			`cd "$1" && exec "$2" -e 1K`, "bash", t.TempDir(), absolute(t, "container/"+script))
		words := strings.Fields(out)
		at := slices.Index(words, "/opt/busbar/bin/rank")
		if code != 0 || at < 0 || !slices.Contains(words[:at], want) || !slices.Contains(words[:at], "--mpi=none") {
			t.Fatalf("%s: %d\n%s", script, code, out)
		}
		acceptsFlags(t, script, words[at+1:])
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	must.NoError(t, err)
	return abs
}

// TestNodeCheck: the check of NHC passes for warnings, and names the codes of problems.
func TestNodeCheck(t *testing.T) {
	rank := "BUSBAR_RANK=" + filepath.Join(needs.Programs(t), "bin/rank")
	const harness = `die() { echo "die $*"; }; . nhc/busbar.nhc; check_busbar "$@"`
	check := func(env []string, flags ...string) (string, int) {
		return run(t, env, "bash", append([]string{"-c", harness, "bash"}, flags...)...)
	}
	if out, code := check([]string{rank}, "8", "--backend", "nccl", "--simulate"); code != 0 || out != "" {
		t.Errorf("simulated GPUs: %d, %s", code, out)
	}
	for want, env := range map[string]string{"7-of-8-gpus": "BUSBAR_REHEARSAL_GPUS=7",
		"gpus-simulated": "BUSBAR_FATAL=gpu-memory-errors gpus-simulated"} {
		out, code := check([]string{rank, env}, "8", "--backend", "nccl", "--simulate")
		if code != 1 || out != "die 1 check_busbar:  "+want+"\n" {
			t.Errorf("%s: %d, %s", env, code, out)
		}
	}
	out, code := check([]string{rank}, "--backend", "nccl", "--cuda", "/nowhere")
	if !strings.HasPrefix(out, "die 1 check_busbar:  ") || !strings.Contains(out, " gpu-driver-unusable") || code != 1 {
		t.Errorf("no driver: %d, %s", code, out)
	}
	out, code = check([]string{"BUSBAR_RANK=/nowhere/rank"})
	if code != 1 || !strings.Contains(out, "exited with 127") {
		t.Errorf("no rank: %d, %s", code, out)
	}
}

// TestSlurmProlog: rank is called for the GPUs of the job, which must all be found. It is also started by a link.
func TestSlurmProlog(t *testing.T) {
	_, dir := stubs(t, map[string]string{"rank": `
echo "$CUDA_DEVICE_ORDER $CUDA_VISIBLE_DEVICES $*" >"$LOG"
echo '"code": "gpus-visible",'
echo '"gpus": 2,'`})
	called := filepath.Join(dir, "log")
	link := filepath.Join(dir, "epilog")
	must.NoError(t, os.Symlink(absolute(t, "slurm/prolog.sh"), link))
	stub := []string{"BUSBAR_RANK=" + filepath.Join(dir, "rank"), "LOG=" + called, "SLURM_JOB_ID=7"}
	if out, code := run(t, stub, "slurm/prolog.sh"); code != 0 || out != "" {
		t.Errorf("a job without GPUs: %d, %s", code, out)
	}
	_, err := os.Stat(called)
	test.Error(t, err)
	for gpus, want := range map[string]int{"5,6": 0, "5,6,7": 1} {
		out, code := run(t, append(stub, "SLURM_JOB_GPUS="+gpus), link)
		if code != want || strings.Contains(out, "2-of-3-gpus") != (want == 1) {
			t.Errorf("GPUs %s: %d, %s", gpus, code, out)
		}
		call := strings.Fields(read(t, called))
		if strings.Join(call[:2], " ") != "PCI_BUS_ID "+gpus {
			t.Errorf("GPUs %s: %q", gpus, call)
		}
		acceptsFlags(t, "prolog.sh", slices.DeleteFunc(call[2:], func(word string) bool {
			return word == "--preflight" || word == "--json" // which exclude the plan
		}))
	}
}

// TestSystemdUnits: systemd accepts the units, whose programs are replaced by one that exists.
func TestSystemdUnits(t *testing.T) {
	needs.Command(t, "systemd-analyze", "it checks the units")
	dir := t.TempDir()
	program := regexp.MustCompile(`(?m)^ExecStart=\S+`)
	for _, name := range []string{"busbar-nightly.service", "busbar-nightly.timer"} {
		text := read(t, "systemd/"+name)
		for _, m := range regexp.MustCompile(`/opt/busbar/(deploy/\S+)`).FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join("..", m[1]))
			test.NoError(t, err)
		}
		if _, flags, found := strings.Cut(text, "/opt/busbar/busbar-run "); found {
			flags, _, _ = strings.Cut(flags, "\n")
			acceptsFlags(t, name, strings.Fields(flags))
		}
		text = program.ReplaceAllString(text, "ExecStart=/bin/true")
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	verify := func() (string, error) {
		cmd := exec.Command("systemd-analyze", "verify", "--man=no", "busbar-nightly.service", "busbar-nightly.timer")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		// lines about units of the machine are not about these
		return string(bytes.Join(slices.DeleteFunc(bytes.Split(out, []byte("\n")), func(line []byte) bool {
			return !bytes.Contains(line, []byte("busbar"))
		}), []byte("\n"))), err
	}
	if out, err := verify(); err != nil || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	timer := filepath.Join(dir, "busbar-nightly.timer")
	wrong := strings.Replace(read(t, timer), "OnCalendar=", "OnCalender=", 1)
	must.NoError(t, os.WriteFile(timer, []byte(wrong), 0o644))
	if out, err := verify(); err == nil && out == "" {
		t.Error("a misspelled key is accepted")
	}
}
