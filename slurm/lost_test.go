package slurm

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// disk is a filesystem of node1, which runs rank 0 and the batch script of a job.
type disk struct {
	t           *testing.T
	where, back string
}

func (d *disk) onNode(words ...string) string {
	d.t.Helper()
	return asMounter(d.t, "node1", words...)
}

// newDisk mounts a small one that all users can write; its mount point is read-only.
func newDisk(t *testing.T) *disk {
	t.Helper()
	onCluster(t)
	awaitIdle(t)
	dir, err := os.MkdirTemp(home, "disk")
	must.NoError(t, err)
	must.NoError(t, os.Chmod(dir, 0o555))
	d := &disk{t: t, where: dir, back: dir}
	d.onNode("mount", "-t", "tmpfs", "-o", "size=8m,mode=1777", "tmpfs", dir)
	t.Cleanup(func() { d.unmount(dir) })
	return d
}

// unmount removes the mount, if any, without contacting the server.
func (d *disk) unmount(dir string) {
	d.t.Helper()
	d.onNode("bash", "-c", `if grep -qF " $0 " /proc/self/mounts; then umount --lazy "$0"; fi`, dir)
}

// serve mounts the disk through a process, like a file server.
func (d *disk) serve() {
	d.t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		d.t.Skipf("requires a filesystem whose server is a process: %v", err)
	} else {
		f.Close()
	}
	d.where = d.back + "-served"
	must.NoError(d.t, os.Mkdir(d.where, 0o777))
	d.onNode("bindfs", "-o", "allow_other", d.back, d.where)
	d.t.Cleanup(func() {
		d.signal("KILL")
		d.unmount(d.where)
	})
}

// signal signals the server, if it runs.
func (d *disk) signal(name string) {
	d.t.Helper()
	d.onNode("bash", "-c",
		`for p in $(pgrep -x bindfs); do grep -qzxF -- "$0" "/proc/$p/cmdline" && kill -s "$1" "$p"; done; true`,
		d.where, name)
}

// hang stops the server between two requests of rank 0. With a pending request rank could not be killed, and Slurm
// could not end the job.
func (d *disk) hang() {
	d.t.Helper()
	d.onNode(
		"bash",
		"-c",
		`stop() { kill -STOP "$1" && until [ -z "$(grep -L "^State:.T" "/proc/$1/task/"*/status)" ]; do sleep 0.01; `+
			`done; }
		rank=$(pgrep -x rank) && stop "$rank" && stop "$(pgrep -x bindfs)"; s=$?; kill -CONT "$rank"; exit $s`,
	)
}

// points counts the records on the disk.
func (d *disk) points() int {
	d.t.Helper()
	n, err := strconv.Atoi(d.onNode("bash", "-c",
		`cat "$0"/results/profile_*.jsonl 2>/dev/null | grep -c '^{"kind":"case"' || true`, d.back))
	must.NoError(d.t, err)
	return n
}

// The results folder is lost during a sweep: the job ends at once with the reason and does not restart. When the folder
// is available again, another job continues.
func TestLostFilesystem(t *testing.T) {
	needs.TestAll(t)
	for _, c := range []struct {
		name       string
		served     bool
		lose, back func(*disk)
		code       int
		want       []string
	}{
		{"full", false,
			func(d *disk) { d.onNode("bash", "-c", `cat /dev/zero >"$0/big" 2>/dev/null || true`, d.where) },
			func(d *disk) { d.onNode("rm", d.where+"/big") },
			2, []string{"cannot write: no space left on device", "records are safe in it",
				"sbatch command with BUSBAR_OUT="}},
		{"unmounted", false,
			func(d *disk) { d.onNode("umount", "--lazy", d.where) }, nil,
			2, []string{"was removed while the run was writing it", "records are in /tmp/busbar-rescue-",
				"the results folder is lost"}},
		{"its server died", true,
			func(d *disk) { d.signal("KILL") }, nil,
			2, []string{"cannot write: transport endpoint is not connected", "the results folder is lost"}},
		{"its server hangs", true,
			func(d *disk) { d.hang() },
			func(d *disk) { d.signal("CONT") },
			4, []string{"the results folder does not answer", "rank 0 on node1 is still in phase write the record",
				"the results folder is lost on node1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDisk(t)
			if c.served {
				d.serve()
			}
			out, pinned := filepath.Join(d.where, "results"), []string{"--nodelist=node1,node2"}
			j := submitWith(t, 2, []string{"BUSBAR_OUT=" + out}, pinned, append(plan, "--deadline", "5s")...)
			await(t, "the first points", func() bool { return d.points() >= 3 })
			c.lose(d)
			j.ended("FAILED", c.code, 0)
			j.logHas(c.want...)
			if c.back == nil {
				return
			}
			c.back(d)
			before := d.points()
			next := submitWith(t, 2, []string{"BUSBAR_OUT=" + out}, pinned, plan...)
			next.ended("COMPLETED", 0, 0)
			next.logHas("--resume")
			if n := d.points(); before < 3 || n != pointsOfPlan {
				t.Errorf("%d points were kept, finally %d, want %d", before, n, pointsOfPlan)
			}
		})
	}
}
