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

// cgroupLevels are the groups of this process that may hold the controller ("memory", "cpu"), from its own up to the
// root of the mounted hierarchy: a limit at any of them holds. Both versions are looked at, since machines mix them.
func cgroupLevels(root, controller string) []cgroupLevel {
	var levels []cgroupLevel
	for line := range strings.Lines(ReadText(root, "proc/self/cgroup")) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		v2 := part[0] == "0" && part[1] == ""
		if !v2 && !slices.Contains(strings.Split(part[1], ","), controller) {
			continue
		}
		mount, base := cgroupMount(root, controller, v2)
		if mount == "" {
			continue
		}
		// In a container the mount shows a subtree; a path outside of it means that the mount's top is all there is.
		inside, ok := strings.CutPrefix(part[2], strings.TrimSuffix(base, "/"))
		if !ok || (inside != "" && inside[0] != '/') {
			inside = part[2]
		}
		for path := filepath.Clean("/" + inside); ; path = filepath.Dir(path) {
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

// cgroupMount is where the hierarchy is mounted and which group of it is the mount's top.
func cgroupMount(root, controller string, v2 bool) (mount, base string) {
	for line := range strings.Lines(ReadText(root, "proc/self/mountinfo")) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 5 || len(tail) < 3 {
			continue
		}
		switch {
		case v2 && tail[0] == "cgroup2":
		case !v2 && tail[0] == "cgroup" && slices.Contains(strings.Split(tail[2], ","), controller):
		default:
			continue
		}
		return head[4], head[3]
	}
	return "", ""
}
