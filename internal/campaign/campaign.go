package campaign

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"busbar/internal/notice"
)

// Campaign is a plan with the folder of its results.
type Campaign struct {
	*Plan
	Dir   string        // absolute
	ID    string        // in every results file, and in the names of jobs
	Notes []notice.Fact // effect of a changed plan on existing results
}

// The files of a campaign's folder beside its results.
const (
	PlanFile = "plan.yaml" // the plan as it was submitted last: what jobs go by
	idFile   = "campaign.json"
)

type identity struct {
	ID   string `json:"id"`
	Seed uint64 `json:"seed"`
}

// Open puts a plan and the folder of its results together. The error is also that the folder holds results of a plan
// that does not agree with this one.
func Open(p *Plan, dir string) (*Campaign, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Campaign{Plan: p, Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, idFile))
	if errors.Is(err, fs.ErrNotExist) {
		c.ID = fmt.Sprintf("%s-%.4x", p.Name, sha256.Sum256([]byte(dir)))
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	var id identity
	if err := json.Unmarshal(text, &id); err != nil || id.ID == "" {
		return nil, fmt.Errorf("%s is damaged: it should hold the id of the campaign (%v)", filepath.Join(dir, idFile),
			err)
	}
	kept, err := Load(filepath.Join(dir, PlanFile))
	if err != nil {
		return nil, fmt.Errorf("the copy of the plan that jobs go by: %w", err)
	}
	c.ID = id.ID
	if what := c.differs(kept); what != "" {
		return nil, fmt.Errorf("%s has results of this campaign with %s; both would be mixed. Undo the change, or "+
			"begin "+
			"another campaign in another folder (--out)", dir, what)
	}
	c.Notes = added(kept, p)
	return c, nil
}

// OpenDir opens a campaign that was begun.
func OpenDir(dir string) (*Campaign, error) {
	p, err := Load(filepath.Join(dir, PlanFile))
	if err != nil {
		return nil, err
	}
	return Open(p, dir)
}

// OpenPath opens what path names: a plan, with the folder dir of its results, or the folder of a campaign, without
// dir. Without dir, the results of a plan are in a folder of its name in below.
func OpenPath(path, dir, below string) (*Campaign, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if dir != "" {
			return nil, fmt.Errorf("%s is a campaign's folder, and --out names another: name the plan instead", path)
		}
		return OpenDir(path)
	}
	p, err := Load(path)
	if err != nil {
		return nil, err
	}
	return Open(p, cmp.Or(dir, filepath.Join(below, p.Name)))
}

// differs describes how a plan contradicts the plan of the results, or is "". More launches, other numbers of nodes and
// other variants are no contradiction.
func (c *Campaign) differs(kept *Plan) string {
	switch {
	case c.Name != kept.Name:
		return fmt.Sprintf("the name %s, but the plan has %s", kept.Name, c.Name)
	case c.Seed != kept.Seed:
		return fmt.Sprintf("the seed %d, but the plan has %d", kept.Seed, c.Seed)
	case c.RanksPerNode != kept.RanksPerNode:
		return fmt.Sprintf("ranks_per_node %d, but the plan has %d", kept.RanksPerNode, c.RanksPerNode)
	case !slices.Equal(c.Flags, kept.Flags):
		return fmt.Sprintf("the flags %q, but the plan has %q", kept.Flags, c.Flags)
	}
	before := byName(kept)
	for _, v := range c.Variants() {
		if old, there := before[v.Name]; there && !reflect.DeepEqual(old, v) {
			return fmt.Sprintf("other flags or another environment of the variant %s", v.Title())
		}
	}
	return ""
}

// Unchanged reports whether the plan is, byte by byte, the one that was submitted last.
func (c *Campaign) Unchanged() bool {
	text, err := os.ReadFile(filepath.Join(c.Dir, PlanFile))
	return err == nil && string(text) == string(c.Source)
}

// added reports new variants.
func added(kept, now *Plan) (notes []notice.Fact) {
	before := byName(kept)
	for _, v := range now.Variants() {
		if _, there := before[v.Name]; !there {
			notes = append(notes, notice.VariantAdded{Variant: v.Title()})
		}
	}
	return notes
}

func byName(p *Plan) map[string]Variant {
	m := map[string]Variant{}
	for _, v := range p.Variants() {
		m[v.Name] = v
	}
	return m
}

// Files are the files that mark the folder as this campaign's, by path.
func (c *Campaign) Files() (paths []string, texts [][]byte, err error) {
	id, err := json.Marshal(identity{c.ID, c.Seed})
	return []string{filepath.Join(c.Dir, PlanFile), filepath.Join(c.Dir, idFile)}, [][]byte{c.Source, append(id, '\n')},
		err
}

// Status is the state of every launch of the plan.
func (c *Campaign) Status() ([]Progress, error) {
	var all []Progress
	for _, l := range c.All() {
		p, err := Look(l, c.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Lacking are the launches of a task that are not done, in the order in which it takes them.
func (c *Campaign) Lacking(t Task) ([]Launch, error) {
	launches, err := c.Of(t)
	if err != nil {
		return nil, err
	}
	var lacking []Launch
	for _, l := range launches {
		p, err := Look(l, c.Dir)
		if err != nil {
			return nil, err
		}
		if p.State != Done {
			lacking = append(lacking, l)
		}
	}
	return lacking, nil
}

// Environment is what the launch's ranks get beside what the job has: the variant's variables, and how the launch is
// called in its files.
func (c *Campaign) Environment(l Launch) []Setting {
	order := c.Order(l.Nodes, l.Number)
	place := slices.IndexFunc(order, func(o Launch) bool { return o.Variant.Name == l.Variant.Name }) + 1
	own := []Setting{{"BUSBAR_CAMPAIGN", c.ID}, {"BUSBAR_BLOCK", l.Block()},
		{"BUSBAR_PLACE", fmt.Sprintf("%d of %d by seed %d", place, len(order), c.Seed)}}
	if l.Variant.Name != "" {
		own = append(own, Setting{"BUSBAR_VARIANT", l.Variant.Name})
	}
	return append(own, l.Variant.Environment...)
}
