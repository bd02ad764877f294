package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/sweeps"
)

// Plan is the plan of a launch, equal on all ranks except for Past.
type Plan struct {
	Options  *Options
	Sweep    *sweeps.Sweep
	Worlds   []int
	Pattern  *Pattern // nil: measure one world after another
	Step     *Steps   // nil: measure collectives
	Backends []string
	Launch   string       // UUID
	Campaign string       // UUID
	Past     *result.Past // runs that --resume continues; rank 0 only
}

// texts holds the files that rank 0 read, and the IDs that it chose.
type texts struct {
	Sweep, Model     file
	Matrix           file // of --imbalance
	Launch, Campaign string
}

// file is the text of a file, with its name for messages; "" without a file.
type file struct {
	Name string
	Text []byte
}

// Agree reads the sweep on rank 0 and makes its plan on every rank. auto chooses the backend of --backend auto for
// these worlds. Agree reports unreadable results of --resume on stderr. Collective.
func Agree(c launch.Comm, ranks []launch.RankFacts, o *Options, auto func(worlds []int) string, stderr io.Writer,
) (*Plan, error) {
	t, err := launch.Share(c, func() (texts, error) { return o.read() })
	if err != nil {
		return nil, err
	}
	p, err := o.plan(t, len(ranks), auto)
	if err == nil {
		p.Pattern, err = o.patternOf(p.Sweep, ranks)
	}
	if err != nil {
		if c.Rank() != 0 { // every rank has the error; rank 0 reports it
			return nil, exit.ErrElsewhere
		}
		return nil, err
	}
	return p, launch.OnRoot(c, func() error { return p.try(stderr) })
}

// read reads the files of the command line.
func (o *Options) read() (t texts, err error) {
	t = texts{Launch: result.NewID(), Campaign: o.Campaign}
	if t.Sweep, err = o.readSweep(); err != nil {
		return t, exit.With(exit.Usage, err)
	}
	if o.Flags.Matrix != "" {
		t.Matrix.Name = o.Flags.Matrix
		if t.Matrix.Text, err = os.ReadFile(o.Flags.Matrix); err != nil {
			return t, exit.Usagef("--imbalance must be even, spread:S, hot:K, zipf:A or a file: %w", err)
		}
	}
	t.Model, err = o.readModel()
	return t, err
}

// plan makes the plan from texts, without a pattern. auto chooses the backend of --backend auto.
func (o *Options) plan(t texts, size int, auto func(worlds []int) string) (p *Plan, err error) {
	p = &Plan{Options: o, Launch: t.Launch, Campaign: cmp.Or(t.Campaign, t.Launch)}
	if p.Sweep, err = o.sweepOf(t.Sweep, t.Matrix); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if p.Step, err = o.stepsOf(t.Model); err != nil {
		return nil, err
	}
	p.Worlds = worldsOf(p.Sweep, size)
	if p.Backends, err = backend.Choose(&o.Options, func() string { return auto(p.Worlds) }); err != nil {
		return nil, err
	}
	return p, o.Step.CheckBackends(p.Backends)
}

// Preview returns the plan for size ranks. It needs no libraries and no other ranks, and does not divide a pattern.
func Preview(o *Options, size int) (*Plan, error) {
	t, err := o.read()
	if err != nil {
		return nil, err
	}
	return o.plan(t, size, func([]int) string { return backend.Unseen(&o.Options) })
}

// try checks the plans of all worlds and the results folder before the run measures. It reads the runs that --resume
// continues. Rank 0 only.
func (p *Plan) try(stderr io.Writer) (err error) {
	worlds := p.Worlds
	if p.Pattern != nil {
		worlds = []int{p.Pattern.Size()}
	}
	if err := p.trySteps(); err != nil {
		return err
	}
	latency := func(c coll.Case) bool { return c.Mode == coll.Latency }
	for _, n := range worlds {
		cases, err := p.Cases(p.Backends[0], n)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		if err := p.tryDimensions(cases); err != nil {
			return err
		}
		if p.Options.GPU.Graph > 0 && slices.ContainsFunc(cases, latency) {
			return exit.Usagef(
				"-G does not go with --mode latency, since it launches many operations at once: leave out one of them",
			)
		}
	}
	if err := result.CheckDir(p.Options.Out); err != nil {
		return exit.With(exit.Environment, err)
	}
	if p.Options.Resume {
		if p.Past, err = readPast(p.Options.Out, stderr); err != nil {
			return exit.With(exit.Environment, err)
		}
	}
	return nil
}

// tryDimensions returns why cases in groups of two kinds at once cannot be measured.
func (p *Plan) tryDimensions(cases []coll.Case) error {
	o := p.Options
	switch {
	case !slices.ContainsFunc(cases, func(c coll.Case) bool { return c.Groups.Division.IsDimension() }):
		return nil
	case slices.Contains(p.Backends, "gloo"):
		return exit.Usagef("Gloo has no non-blocking operations, which groups of two kinds at once require " +
			"(--groups tp=8,dp=4): use --backend mpi or nccl")
	case o.GPU.Graph > 0 || o.Rotate > 0 || o.Packed || p.Sweep.Aggregate > 1:
		return exit.Usagef("-G, -m, --rotate and --like do not go with groups of two kinds at once: leave them out")
	}
	return nil
}

// Cases returns the cases of a backend in a world of n ranks.
func (p *Plan) Cases(backendName string, n int) ([]coll.Case, error) {
	return p.Sweep.Plan(n, backend.Places(backendName))
}

// readPast reads the runs that --resume continues. A missing or empty folder is not an error.
func readPast(folder string, stderr io.Writer) (*result.Past, error) {
	files, err := result.Find(folder)
	var none *result.NotFoundError
	if errors.As(err, &none) || errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(stderr, "rank: nothing to resume in %s; starting a new run\n", folder)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--resume cannot read %s: %w", folder, err)
	}
	past := result.ReadPast(files)
	for _, problem := range past.Problems {
		fmt.Fprintf(stderr, "rank: %s\n", problem.Full())
	}
	return past, nil
}

// readSweep reads the named sweep, or quick if no flag changes the plan; otherwise flags alone make the plan.
func (o *Options) readSweep() (f file, err error) {
	name := o.Sweep
	switch {
	case o.Step.Model != "":
		return f, nil
	case name != "":
	case o.planned():
		return f, nil
	case o.Pattern != "":
		name = "pattern"
	default:
		name = "quick"
	}
	f.Name, f.Text, err = sweeps.Read(name)
	return f, err
}

// planned reports whether flags alone make a plan.
func (o *Options) planned() bool {
	f := o.Flags
	return f.MinBytes != nil || f.MaxBytes != nil || f.StepFactor != nil || f.StepBytes != nil ||
		len(f.Elements) > 0 || len(f.Collectives) > 0
}

// sweepOf parses the sweep of a file and applies the flags. Without a size the matrix defines it.
func (o *Options) sweepOf(f, matrix file) (*sweeps.Sweep, error) {
	if o.Step.Model != "" {
		return o.stepSweep()
	}
	s := sweeps.Default()
	if f.Name != "" {
		var err error
		if s, err = sweeps.Parse(f.Name, f.Text); err != nil {
			return nil, err
		}
	}
	flags := o.Flags
	if matrix.Name != "" {
		m, err := sweeps.ParseMatrix(matrix.Name, matrix.Text)
		if err != nil {
			return nil, err
		}
		i := m.Register(filepath.Base(matrix.Name))
		flags.Imbalances = append(slices.Clone(flags.Imbalances), i)
		sized := flags.MinBytes != nil || flags.MaxBytes != nil || len(flags.Elements) > 0
		if bytes := i.Bytes(); f.Name == "" && !sized {
			flags.MinBytes, flags.MaxBytes = &bytes, &bytes
		}
	}
	s, err := s.With(flags)
	if err == nil && len(flags.Imbalances) > 0 && !s.Has(coll.AllToAllV) {
		return nil, errors.New("--imbalance requires --collective alltoallv")
	}
	if err == nil && flags.Fit && s.World == 0 {
		return nil, errors.New("--fit requires a --sweep with the key world, as post timeline --write-sweep writes it")
	}
	if err == nil && (o.Cycles != 1 || o.Pattern != "") && o.Flags.TimeLimit == nil {
		s.TimeLimit = 0 // a sweep's limit applies to one cycle in one world
	}
	return s, err
}

func worldsOf(s *sweeps.Sweep, size int) []int {
	if len(s.Worlds) > 0 {
		return s.Worlds
	}
	return []int{size}
}

// SweepName returns the name of the sweep in files and tables.
func (p *Plan) SweepName() string { return sweepName(p.Sweep) }

func sweepName(s *sweeps.Sweep) string {
	return strings.TrimSuffix(filepath.Base(s.Name), filepath.Ext(s.Name))
}
