// Package campaigndoc makes a document of the state of a campaign.
package campaigndoc

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/campaign"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// campaignData is what the JSON of post campaign show has beside notices; docs/campaigns.md describes the fields.
type campaignData struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Folder      string        `json:"folder"`
	Seed        uint64        `json:"seed"`
	Nodes       []int         `json:"nodes"`
	PerNode     int           `json:"ranks_per_node"` // 0: as the job decides
	Variants    []string      `json:"variants"`
	Each        int           `json:"launches_of_each"`
	States      []StateCounts `json:"states"`
	Launches    []launchJSON  `json:"launches"`
	Order       []JobJSON     `json:"order"` // empty without --order
}

// StateCounts are the launches of a variant on a number of nodes, by state.
type StateCounts struct {
	Nodes      int    `json:"nodes"`
	Variant    string `json:"variant"`
	Done       int    `json:"done"`
	Queued     int    `json:"queued"`
	Unfinished int    `json:"unfinished"`
	Missing    int    `json:"missing"`
}

type launchJSON struct {
	Launch  string         `json:"launch"` // its folder in the campaign's
	Nodes   int            `json:"nodes"`
	Number  int            `json:"number"`
	Variant string         `json:"variant"`
	State   campaign.State `json:"state"`
	Points  int            `json:"points"`
	Failed  int            `json:"failed"`
}

// JobJSON is a job with its variants in the order in which it launches them.
type JobJSON struct {
	Nodes    int      `json:"nodes"`
	Task     int      `json:"task"`
	Block    string   `json:"block"`
	Variants []string `json:"variants"`
}

// State is a campaign with the state of its launches and the launches to submit.
type State struct {
	*campaign.Campaign
	status   []campaign.Progress
	queued   map[campaign.Task]bool
	ToSubmit []campaign.Array
}

// ChangedError is that the plan of jobs in the queue has changed.
type ChangedError struct{ queued int }

func (e *ChangedError) Error() string {
	return fmt.Sprintf(
		"the plan has changed since it was submitted, and %s of it in the queue: undo the change, wait, "+
			"or scancel what is queued",
		units.Count(e.queued, "job"),
	)
}

// Of reads the state of a campaign, of which some jobs are in the queue. The error may be a *ChangedError.
func Of(of *campaign.Campaign, queued map[campaign.Task]bool) (*State, error) {
	if len(queued) > 0 && !of.Unchanged() {
		return nil, &ChangedError{len(queued)}
	}
	s := &State{Campaign: of, queued: queued}
	var err error
	if s.status, err = of.Status(); err != nil {
		return nil, err
	}
	s.ToSubmit, err = of.Arrays(s.status, s.queued)
	s.markQueued()
	return s, err
}

// markQueued sets the state of launches that are not done and whose jobs are in the queue.
func (s *State) markQueued() {
	queued := map[string]bool{}
	for t := range s.queued {
		launches, err := s.Of(t)
		if err != nil {
			continue // a job of a plan that was longer
		}
		for _, l := range launches {
			queued[l.String()] = true
		}
	}
	for p := range units.Each(s.status) {
		if p.State != campaign.Done && queued[p.String()] {
			p.State = campaign.Queued
		}
	}
}

// Document is the state, with the order of launches where it is asked for; kept leaves notices out. queueKnown states
// that the caller named what is in the queue.
func (s *State) Document(
	order, queueKnown bool, kept func([]notice.Notice) []notice.Notice,
) (*document.Document, error) {
	data := s.data()
	if order {
		var err error
		if data.Order, err = s.order(); err != nil {
			return nil, err
		}
	}
	return data.document(kept(s.notices(queueKnown))), nil
}

func (s *State) data() *campaignData {
	d := &campaignData{
		ID: s.ID, Name: s.Name, Description: s.Description, Folder: s.Dir, Seed: s.Seed,
		Nodes: s.Nodes, PerNode: s.RanksPerNode, Each: s.Launches,
	}
	var rows units.Numbers[StateCounts] // of the table, by nodes and variant
	for _, v := range s.Variants() {
		d.Variants = append(d.Variants, v.Name)
	}
	for _, p := range s.status {
		of := StateCounts{Nodes: p.Nodes, Variant: p.Variant.Name}
		i, added := rows.Of(of)
		if added {
			d.States = append(d.States, of)
		}
		d.States[i].add(p.State)
		d.Launches = append(d.Launches, launchJSON{
			p.Launch.String(), p.Nodes, p.Number, p.Variant.Name, p.State, p.Points, p.Bad,
		})
	}
	return d
}

func (c *StateCounts) add(s campaign.State) {
	switch s {
	case campaign.Done:
		c.Done++
	case campaign.Queued:
		c.Queued++
	case campaign.Unfinished:
		c.Unfinished++
	default:
		c.Missing++
	}
}

// order is the order of the launches of each job, by submission.
func (s *State) order() (all []JobJSON, err error) {
	for _, nodes := range s.NodesOrder() {
		for _, t := range s.Tasks(nodes) {
			launches, err := s.Of(t)
			if err != nil {
				return nil, err
			}
			job := JobJSON{Nodes: nodes, Task: t.Index, Block: launches[0].Block()}
			for _, l := range launches {
				job.Variants = append(job.Variants, l.Variant.Name)
			}
			all = append(all, job)
		}
	}
	return all, nil
}

// notices are those on the plan, then on launches, and last on launches to submit.
func (s *State) notices(queueKnown bool) []notice.Notice {
	all := units.Map(s.Notes, notice.New)
	for _, p := range s.status {
		if p.Found != nil {
			n := notice.New(p.Found)
			n.At.Subject = p.Launch.String()
			all = append(all, n)
		}
	}
	return append(all, notice.New(s.rest(queueKnown)))
}

// rest is the launches to submit.
func (s *State) rest(queueKnown bool) notice.Fact {
	jobs := 0
	for _, a := range s.ToSubmit {
		jobs += len(a.Tasks)
	}
	switch {
	case jobs == 0 && len(s.queued) > 0:
		return notice.CampaignQueued{Jobs: len(s.queued)}
	case jobs == 0:
		return notice.CampaignDone{Folder: s.Dir}
	}
	return notice.CampaignJobs{
		Queue: queueKnown, Jobs: jobs, Limit: s.Sbatch.Time,
	}
}

// document is the state as it is shown.
func (d *campaignData) document(notices []notice.Notice) *document.Document {
	fields := document.Fields{
		{Name: "nodes", Value: strings.ReplaceAll(strings.Trim(fmt.Sprint(d.Nodes), "[]"), " ", ", ")},
		{Name: "variants", Value: fmt.Sprint(len(d.Variants))},
		{Name: "launches", Value: fmt.Sprintf("%d (%d of each variant on each number of nodes)", len(d.Launches),
			d.Each)},
		{Name: "seed", Value: fmt.Sprint(d.Seed)},
		{Name: "folder", Value: d.Folder},
	}
	if d.Description != "" {
		fields = slices.Insert(fields, 0, document.Field{Name: "description", Value: d.Description})
	}
	states := document.NewTable("nodes>", "variant", "done>", "queued>", "unfinished>", "missing>")
	for _, c := range d.States {
		states.Row(fmt.Sprint(c.Nodes), titleOf(c.Variant), fmt.Sprint(c.Done), fmt.Sprint(c.Queued),
			fmt.Sprint(c.Unfinished), fmt.Sprint(c.Missing))
	}
	doc := &document.Document{Kind: "campaign", Title: "Campaign " + d.ID, Data: d, Notices: notices}
	doc.Add(fields, document.NewSection("Launches", states))
	if d.Order != nil {
		var order document.Fields
		for _, job := range d.Order {
			titles := units.Map(job.Variants, titleOf)
			order = append(order, document.Field{Name: job.Block, Value: strings.Join(titles, ", ")})
		}
		doc.Add(document.NewSection("Order", order))
	}
	if len(notices) > 0 {
		doc.Add(document.NewSection("Findings", document.Findings(notices)))
	}
	return doc
}

func titleOf(variant string) string { return campaign.Variant{Name: variant}.Title() }
