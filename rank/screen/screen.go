// Package screen prints what rank 0 shows during a run: a table of results, notes, and a summary.
package screen

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// Screen prints a table like that of nccl-tests, in lines of at most 80 columns except paths. On other ranks, and with
// --quiet, it prints nothing.
type Screen struct {
	page
	folder string // of the results
	rounds int    // of a pattern

	several bool   // backends
	section string // of the last row: a collective, or a group of steps
	group   string // of the last row, with several backends
	notes   notes
	counts  map[result.Status]int
}

// File is an open file of results.
type File struct {
	Run  *result.Run
	Path string
}

// WorldOfOne is the note of a run without a launcher.
const WorldOfOne = "World size is 1 (no launcher): one rank communicates with no other, so busbw is 0. To start " +
	"N ranks: mpirun -np N rank [flags], srun -n N rank [flags], or torchrun --no-python --nproc-per-node N rank " +
	"[flags]"

// New returns a screen on stdout for results in folder. It prints nothing unless on is true.
func New(on bool, stdout io.Writer, folder string) *Screen {
	return &Screen{page: page{on: on, out: stdout}, folder: folder, counts: map[result.Status]int{}}
}

// Ranks describes the world of a run.
func Ranks(r *result.Run) string {
	return fmt.Sprintf("world %d = %s x %d", r.World, units.Count(r.Nodes, "node"), r.RanksPerNode)
}

// Head prints the header of a world or pattern, with a file per library; ranks describes the ranks that measure.
func (s *Screen) Head(files []File, ranks string, o sweeps.Options) {
	s.section, s.several = "", len(files) > 1
	for _, f := range files {
		s.head(f, f.Run.Sweep.Name, ranks)
	}
	r := files[0].Run
	if s.several {
		s.Note("interleaved: each case is measured with %s in turn", strings.Join(r.Interleaved, ", "))
	}
	s.Note("clock reading: %.0f ns; per case: budget %s, target 95 %% CI ±%.3g %%", r.Method.ClockCost*1e9, o.Budget,
		100*o.Precision)
	var shown notice.List
	for _, f := range files {
		s.before(f.Run, &shown)
	}
}

// The headers of the table. With several backends, their names replace the count.
const (
	columnNames        = "#      size       count     type   op  rt  in how      time    ±  algbw  busbw"
	columnUnits        = "#       (B)  (elements)                               (us)  (%) (GB/s) (GB/s) #"
	severalColumnNames = "#     size backend            type   op  rt  in how    time    ±  algbw  busbw"
	severalColumnUnits = "#      (B)                                            (us)  (%) (GB/s) (GB/s) #"
)

// groupColumns puts the group in the place of the count.
var groupColumns = strings.NewReplacer("count", "group", "(elements)", "          ")

// Row prints a record. The last column is the number of wrong elements, or - without a check.
func (s *Screen) Row(library string, r *result.Record) {
	s.counts[r.Status]++
	if !s.on {
		return
	}
	section, third := strings.TrimSpace(fmt.Sprint(r.Collective, " ", r.Imbalance)), fmt.Sprint(r.Count)
	if r.Groups.Divided() {
		section, third = r.Groups.Heading(section), r.Groups.Name()
	}
	if section != s.section {
		s.section, s.group = section, ""
		names, units := columnNames, columnUnits
		if s.several {
			names, units = severalColumnNames, severalColumnUnits
		} else if r.Groups.Divided() {
			names, units = groupColumns.Replace(names), groupColumns.Replace(units)
		}
		fmt.Fprintf(s.out, "#\n# %s\n%s\n%s\n", section, names, units)
	}
	if group := r.Groups.Name(); s.several && group != s.group {
		s.group = group
		fmt.Fprintf(s.out, "# group %s\n", group)
	}
	root, op := "-", "-"
	if r.Root >= 0 {
		root = fmt.Sprint(r.Root)
	}
	if r.Op != 0 {
		op = r.Op.String()
	}
	left, width := fmt.Sprintf("%11d %11s", r.SizeBytes, third), 9
	if s.several {
		left, width = fmt.Sprintf("%10d %-14s", r.SizeBytes, library), 7
	}
	left += fmt.Sprintf(" %8s %4s %3s %3s %.3s ", r.Type, op, root, r.Placement, r.Mode)
	if r.Status != result.OK {
		s.notMeasured(left, r.Status, r.Why)
		return
	}
	t := r.Time
	fmt.Fprintf(s.out, "%s%*s %4s %6s %6s %s\n", left, width, digits(t.Seconds*1e6, width), halfWidth(t),
		digits(r.AlgBW(t.Seconds)/1e9, 6), digits(r.BusBW(t.Seconds)/1e9, 6), wrongElements(r.Check))
	s.notes.add(r.Case, r.Warnings)
}

// wrongElements returns the last column of a row with values.
func wrongElements(c result.Check) string { return map[string]string{"ok": "0", "off": "-"}[c.Result] }

// Summary prints warnings, counts, the paths of results and the next command.
func (s *Screen) Summary(code int) {
	if !s.on {
		return
	}
	fmt.Fprintln(s.out, "#")
	s.notes.write(&s.page)
	var parts []string
	for _, status := range []result.Status{result.OK, result.Skipped, result.Unsupported, result.OOM, result.Timeout,
		result.Wrong, result.Failed} {
		if n := s.counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	if len(parts) == 0 {
		parts = []string{"all measured before"}
	}
	s.Note("points: %s", strings.Join(parts, ", "))
	s.results()
	switch {
	case code == exit.Wrong:
		s.Note("WRONG DATA was found: see the rows above; exit code %d", code)
	case code == exit.Points:
		s.Note("some points failed; exit code %d; --resume retries them", code)
	case code > exit.Interrupted:
		s.Note("interrupted; --resume continues the run; exit code %d", code)
	}
	s.Note("next: post report%s", s.folderArgument())
}

// folderArgument returns the argument of post for the folder of results; "" for the default.
func (s *Screen) folderArgument() string {
	if filepath.Clean(s.folder) == "results" {
		return ""
	}
	if strings.ContainsAny(s.folder, " \t\n\"'$`\\*?[]{}()<>|&;!#~") {
		return " '" + strings.ReplaceAll(s.folder, "'", `'\''`) + "'"
	}
	return " " + s.folder
}

// notes collects warnings of records. Each code is printed once at the end, with its number of points.
type notes struct {
	order []notice.Kind
	count map[notice.Kind]int
	first map[notice.Kind]string
}

// add collects the warnings of a point.
func (n *notes) add(point fmt.Stringer, warnings notice.List) {
	for _, w := range warnings {
		group := w.Kind()
		if n.count == nil {
			n.count, n.first = map[notice.Kind]int{}, map[notice.Kind]string{}
		}
		if n.count[group] == 0 {
			n.order = append(n.order, group)
			n.first[group] = point.String() + ": " + notice.Message(w.Fact)
		}
		n.count[group]++
	}
}

func (n *notes) write(p *page) {
	for _, group := range n.order {
		text := n.first[group]
		if more := n.count[group] - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		p.Wrapped("# warning: ", text)
	}
}

// digits formats x with as many decimals as fit width: at most three, and at most one from 100.
func digits(x float64, width int) string {
	most := min(3, width-3)
	if x >= 100 {
		most = 1
	}
	for decimals := most; decimals >= 0; decimals-- {
		if s := fmt.Sprintf("%.*f", decimals, x); len(s) <= width {
			return s
		}
	}
	return fmt.Sprintf("%.*e", max(0, width-6), x)
}
