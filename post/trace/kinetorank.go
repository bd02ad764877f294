package trace

import (
	"path"
	"regexp"
	"strconv"
)

// completeGroups gives groups the ranks that their own lists are too long to have: from distributedInfo, or from their
// spacing.
func (g *gathered) completeGroups(info distributed) {
	for i := range g.groups.all {
		group := &g.groups.all[i]
		said := info.groups[group.Name]
		if group.Ranks == nil && (group.Size == 0 || len(said.ranks) == group.Size) {
			group.Ranks = said.ranks
		}
		if group.Ranks == nil && group.skip > 0 {
			for n := range group.Size {
				group.Ranks = append(group.Ranks, int(group.first)+n*int(group.skip))
			}
		}
		if group.Size == 0 {
			group.Size = max(len(group.Ranks), said.size, 0)
		}
		if group.About == "" {
			group.About = said.about
		}
		group.Group.Rank = group.mine
	}
}

// worldGroup is what torch.distributed describes the group of all ranks by.
const worldGroup = "default_pg"

// rankOfGroups is the rank of the world by what collectives say of the process in the group of all ranks.
func (g *gathered) rankOfGroups(info distributed) int {
	for _, group := range g.groups.all {
		if group.mine != Unknown && (group.About == worldGroup || group.Size == info.world && info.world > 0) {
			return group.mine
		}
	}
	return Unknown
}

func (g *gathered) worldOfGroups() int {
	for _, group := range g.groups.all {
		if group.About == worldGroup {
			return group.Size
		}
	}
	return 0
}

var torchName = regexp.MustCompile(`^(.+)_(\d+)\.\d{9,}\.pt\.trace\.json(?:\.gz)?$`)

// hostOfPath is the host in a name as torch.profiler's handler for TensorBoard gives it, host_pid.time.pt.trace.json.
// The pid must be that of the trace: others name files like that too.
func hostOfPath(file string, process int64) string {
	found := torchName.FindStringSubmatch(path.Base(file))
	if found == nil || found[2] != strconv.FormatInt(process, 10) {
		return ""
	}
	return found[1]
}
