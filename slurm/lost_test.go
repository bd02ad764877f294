package slurm

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"busbar/internal/needs"
)

// disk is a filesystem that only node1 sees, where rank 0 and the batch script of a job run.
type disk struct {
	t           *testing.T
	where, back string
}

func (d *disk) onNode(words ...string) string {
	d.t.Helper()
	return asMounter(d.t, "node1", words...)
}

// newDisk makes a small one, writable by all; its mount point is not.
func newDisk(t *testing.T) *disk {
	t.Helper()
	onCluster(t)
	awaitIdle(t)
	dir, err := os.MkdirTemp(home, "disk")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	d := &disk{t: t, where: dir, back: dir}
	d.onNode("mount", "-t", "tmpfs", "-o", "size=8m,mode=1777", "tmpfs", dir)
	t.Cleanup(func() { d.unmount(dir) })
	return d
}

// unmount removes the mount, if any, without asking the server.
func (d *disk) unmount(dir string) {
	d.t.Helper()
	d.onNode("bash", "-c", `if grep -qF " $0 " /proc/self/mounts; then umount --lazy "$0"; fi`, dir)
}

// serve puts a process between the disk and who uses it, as a server of files is.
func (d *disk) serve() {
	d.t.Helper()
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		d.t.Skipf("requires a filesystem whose server is a process: %v", err)
	} else {
		f.Close()
	}
	d.where = d.back + "-served"
	if err := os.Mkdir(d.where, 0o777); err != nil {
		d.t.Fatal(err)
	}
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

// hang stops the server between two requests of rank 0. One that the server has read and not answered would keep its
// process from being killed, and Slurm from ending the job.
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
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// The results folder goes away in the middle: the job ends at once, reports why, and does not restart. Where the
// folder is back another job goes on.
func TestLostFilesystem(t *testing.T) {
	needs.TestAll(t)
	for _, c := range []struct {
		name       string
		served     bool
		lose, back func(*disk)
		code       int
		says       []string
	}{
		{"full", false,
			func(d *disk) { d.onNode("bash", "-c", `cat /dev/zero >"$0/big" 2>/dev/null || true`, d.where) },
			func(d *disk) { d.onNode("rm", d.where+"/big") },
			2, []string{"cannot write: no space left on device", "records are safe in it",
				"the same sbatch line with BUSBAR_OUT="}},
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
				"the results folder is lost to node1, or its filesystem does not answer"}},
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
			j.says(c.says...)
			if c.back == nil {
				return
			}
			c.back(d)
			before := d.points()
			next := submitWith(t, 2, []string{"BUSBAR_OUT=" + out}, pinned, plan...)
			next.ended("COMPLETED", 0, 0)
			next.says("--resume")
			if n := d.points(); before < 3 || n != pointsOfPlan {
				t.Errorf("%d points were kept, %d are there in the end, want %d", before, n, pointsOfPlan)
			}
		})
	}
}
