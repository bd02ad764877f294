package campaign

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/units"
)

// Array is one array of jobs to submit: tasks of one number of nodes.
type Array struct {
	Nodes int
	Tasks []int // increasing
}

// Arrays are the tasks that lack something and are not in the queue, in the order of submission.
func (c *Campaign) Arrays(status []Progress, queued map[Task]bool) (arrays []Array, err error) {
	done := map[string]bool{}
	for _, p := range status {
		done[p.String()] = p.State == Done
	}
	for _, nodes := range c.NodesOrder() {
		a := Array{Nodes: nodes}
		for _, t := range c.Tasks(nodes) {
			launches, err := c.Of(t)
			if err != nil {
				return nil, err
			}
			if !queued[t] && slices.ContainsFunc(launches, func(l Launch) bool { return !done[l.String()] }) {
				a.Tasks = append(a.Tasks, t.Index)
			}
		}
		if a.Tasks != nil {
			arrays = append(arrays, a)
		}
	}
	return arrays, nil
}

// JobName is the name of the jobs of a number of nodes.
func (c *Campaign) JobName(nodes int) string { return fmt.Sprintf("%s.%d", c.ID, nodes) }

// LogDir is the folder of the jobs' logs.
func (c *Campaign) LogDir() string { return filepath.Join(c.Dir, "log") }

// words is the command that submits an array, with more options after the plan's.
func (c *Campaign) words(a Array, script string, more []string) []string {
	words := []string{"sbatch", "--parsable", "--job-name=" + c.JobName(a.Nodes), fmt.Sprintf("--nodes=%d", a.Nodes)}
	if c.RanksPerNode > 0 {
		words = append(words, fmt.Sprintf("--ntasks-per-node=%d", c.RanksPerNode))
	}
	words = append(words, fmt.Sprintf("--array=%s%%%d", ranges.Format(a.Tasks), c.Sbatch.Throttle), "--time="+
		c.Sbatch.Time, "--output="+filepath.Join(c.LogDir(), "%x_%a.out"), "--export=ALL")
	return append(slices.Concat(words, c.Sbatch.Options, more), script)
}

// reportWords is the command that submits the job that reports, up to what it waits for and what it runs.
func (c *Campaign) reportWords(more []string) []string {
	options := slices.Concat(c.Sbatch.Options, more)
	if c.Sbatch.Report != nil {
		options = c.Sbatch.Report
	}
	words := append([]string{"sbatch", "--parsable"}, options...)
	return append(words, "--job-name="+c.ID+".report", "--nodes=1", "--ntasks=1", "--time=00:30:00", "--output="+
		filepath.Join(c.LogDir(), "report.out"), "--open-mode=append")
}

// Commands are the shell commands that submit arrays, each with more options of sbatch, and last the one of the job
// that reports, which waits for the numbers in $jobs. scripts is the folder of sweep.sh and campaign.sh.
func (c *Campaign) Commands(arrays []Array, scripts string, more []string) (commands []string) {
	if len(arrays) == 0 {
		return nil
	}
	settings := "BUSBAR_PLAN=" + units.Shell(c.Dir)
	if c.RanksPerNode > 0 { // overrides the caller's settings
		settings += fmt.Sprintf(" BUSBAR_RANKS_PER_NODE=%d", c.RanksPerNode)
	}
	for _, a := range arrays {
		commands = append(commands, settings+" "+units.Shell(c.words(a, filepath.Join(scripts, "sweep.sh"), more)...))
	}
	report := units.Shell(filepath.Join(scripts, "campaign.sh"), "--report", c.Dir)
	return append(commands, fmt.Sprintf("%s --dependency=\"afterany$jobs\" %s", units.Shell(c.reportWords(more)...),
		units.Shell("--wrap="+report)))
}

// Steps are the launches of a task that are not done, each with its folder, its environment and the flags of rank as a
// shell reads them.
func (c *Campaign) Steps(t Task) (lines []string, err error) {
	launches, err := c.Lacking(t)
	for _, l := range launches {
		words := []string{l.Dir(c.Dir)}
		for _, s := range c.Environment(l) {
			words = append(words, s.String())
		}
		lines = append(lines, units.Shell(slices.Concat(words, []string{"--"}, c.Flags, l.Variant.Flags)...))
	}
	return lines, err
}

// ParseTasks reads a list of tasks: NODES:TASK,….
func ParseTasks(list string) (map[Task]bool, error) {
	tasks := map[Task]bool{}
	for word := range strings.SplitSeq(list, ",") {
		if word == "" {
			continue
		}
		nodes, index, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(nodes)
		i, err2 := strconv.Atoi(index)
		if err != nil || err2 != nil {
			return nil, fmt.Errorf("%s: must be NODES:TASK", word)
		}
		tasks[Task{Nodes: n, Index: i}] = true
	}
	return tasks, nil
}
