package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// TestBenchmarkSelection: scripts/benchmark.sh picks backends and world sizes as in docs/comparison.md. nvidia-smi,
// make and the launcher are fakes; the launcher only prints its arguments.
func TestBenchmarkSelection(t *testing.T) {
	fakes := t.TempDir()
	for name, text := range map[string]string{
		"nvidia-smi": `for i in $(seq "$FAKE_GPUS"); do echo "GPU $i: Example"; done`,
		"make": `if [ -n "${OUT+set}$MAKEFLAGS" ]; then echo "OUT would change where make puts libraries"; ` +
			`exit 9; fi`,
		"launcher": `echo "launched: $*"; exit 2`,
	} {
		must.NoError(t, os.WriteFile(filepath.Join(fakes, name), []byte("#!/bin/bash\n"+text+"\n"), 0o755))
	}
	for _, c := range []struct {
		what string
		gpus int
		env  string
		want string // the launch, or the error
	}{
		{"nccl", 8, "",
			"-np 6 bin/rank --backend nccl --sweep sizes --worlds 2,4,6 --time-limit 4m --out results/benchmark -w 9"},
		{"nccl", 5, "", "-np 4 bin/rank --backend nccl --sweep sizes --worlds 2,4 "},
		{"nccl", 3, "", "-np 2 bin/rank --backend nccl --sweep sizes --worlds 2 "},
		{"nccl", 8, "CUDA_VISIBLE_DEVICES=0,1,2,3", "-np 4 bin/rank --backend nccl"},
		{"nccl", 8, "CUDA_VISIBLE_DEVICES=", "NCCL requires at least two GPUs"},
		{"nccl", 1, "", "NCCL requires at least two GPUs; nvidia-smi lists 1"},
		{"nccl", 0, "REHEARSE=1", "-np 6 bin/rank --rehearse --backend nccl --sweep sizes --worlds 2,4,6 "},
		{"nccl", 8, "WORLDS=8,2", "-np 8 bin/rank --backend nccl --sweep sizes --worlds 8,2 "},
		{"nccl", 8, "TIME_LIMIT=9s", "--time-limit 9s"},
		{"nccl", 8, "OUT=there", "--out there"},
		{"nccl", 8, "MAKEFLAGS=OUT=there", "--out results/benchmark"},
		{"mpi", 8, "", "-np 6 bin/rank --backend mpi --sweep sizes --worlds 2,4,6 "},
		{"gloo", 0, "", "-np 6 bin/rank --backend gloo --sweep sizes --worlds 2,4,6 "},
		{"auto", 6, "", "-np 6 bin/rank --backend gloo,nccl --sweep sizes --worlds 2,4,6 "},
		{"auto", 4, "", "-np 4 bin/rank --backend gloo,nccl --sweep sizes --worlds 2,4 "},
		{"auto", 1, "", "-np 6 bin/rank --backend gloo,mpi --sweep sizes --worlds 2,4,6 "},
		{"auto", 0, "REHEARSE=1", "-np 6 bin/rank --rehearse --backend gloo,nccl "},
		{"cuda", 8, "", `unknown benchmark "cuda"`},
	} {
		t.Run(fmt.Sprintf("%s/%d %s", c.what, c.gpus, c.env), func(t *testing.T) {
			if strings.Contains(c.want, "gloo") {
				needs.File(t, filepath.Join(root, "lib", "busbar-gloo.so"),
					"make build makes it where Gloo's headers are")
			}
			cmd := exec.Command("scripts/benchmark.sh", c.what, "-w", "9")
			cmd.Dir = root
			cmd.Env = append(environment(), "PATH="+fakes+":"+os.Getenv("PATH"), "MPIRUN=launcher",
				fmt.Sprint("FAKE_GPUS=", c.gpus), "REHEARSE=", "OUT=", "WORLDS=", "TIME_LIMIT=", c.env)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), c.want) {
				t.Errorf("%v; got\n%s\nwant %q", err, out, c.want)
			}
		})
	}
}

// environment is the test's, without what hides GPUs.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CUDA_VISIBLE_DEVICES=") })
}
