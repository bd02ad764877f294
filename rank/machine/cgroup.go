package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// cgroupLevel is one control group that this process is in.
type cgroupLevel struct {
	name string // "/slurm/job_7"
	dir  string // where its files are, below the root of the facts
	v2   bool
}

// cgroupLevels are the control groups that limit this process by a controller, from the innermost to the top, where
// systemd mounts them: /sys/fs/cgroup, or below it a folder for each controller of version 1. In a container the mount
// may show the container's own group at its top; groups that it does not show are left out.
func cgroupLevels(root, controller string) []cgroupLevel {
	var levels []cgroupLevel
	for line := range strings.Lines(ReadText(root, "proc/self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		mount, v2 := "sys/fs/cgroup", part[0] == "0" && part[1] == ""
		if !v2 {
			if !slices.Contains(strings.Split(part[1], ","), controller) {
				continue
			}
			mount += "/" + controller
		}
		for path := filepath.Clean("/" + part[2]); ; path = filepath.Dir(path) {
			dir := filepath.Join(root, mount, path)
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				levels = append(levels, cgroupLevel{name: path, dir: dir, v2: v2})
			}
			if path == "/" {
				break
			}
		}
	}
	return levels
}
