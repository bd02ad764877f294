package slurm

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

var version = regexp.MustCompile(`^rank of busbar (\S+) `)

// A job submitted from the unpacked bundle uses the bundle's MPI.
func TestSweepFromBundle(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	text, err := exec.Command(root+"/bin/rank", "--version").Output()
	must.NoError(t, err)
	m := version.FindSubmatch(text)
	if m == nil {
		t.Fatalf("rank --version: %s", text)
	}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	packed := filepath.Join(root, "dist", "busbar-"+string(m[1])+"-linux-"+machine+".tar.gz")
	needs.File(t, packed, "make bundle builds it")
	dir := filepath.Join(filepath.Dir(home), "unpacked")
	output(t)(asUser(nil, "bash", "-c", `mkdir "$0" && tar -xzf $1 -C "$0" --strip-components=1`, dir,
		packed))
	defer func(before string) { home = before }(home)
	home = dir
	j := submit(t, 2, nil, plan...)
	j.ended("COMPLETED", 0, 0)
	j.checkPoints()
	if r := j.runs()[0].Run; !strings.HasPrefix(r.MPI.Path, dir) || !strings.HasPrefix(j.out, dir) {
		t.Errorf("MPI of %s, results in %s; both should be below %s", r.MPI.Path, j.out, dir)
	}
}
