package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/campaign"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/usage"
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
	States      []stateCounts `json:"states"`
	Launches    []launchJSON  `json:"launches"`
	Order       []jobJSON     `json:"order"` // empty without --order
}

// stateCounts are the launches of a variant on a number of nodes, by state.
type stateCounts struct {
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
	Seconds float64        `json:"duration_s"` // 0: not known
}

// jobJSON is a job with its variants in the order in which it launches them.
type jobJSON struct {
	Nodes    int      `json:"nodes"`
	Task     int      `json:"task"`
	Block    string   `json:"block"`
	Variants []string `json:"variants"`
}

// show prints the state of a campaign.
func (c *campaigner) show(cmd *cobra.Command, path string) error {
	if err := c.output.check(); err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	s, err := c.standing(cmd, path)
	if err != nil {
		return err
	}
	data := s.data()
	if c.order {
		if data.Order, err = s.order(); err != nil {
			return err
		}
	}
	all, err := s.Notices(cmd.Flags().Changed("queued"))
	if err != nil {
		return err
	}
	return c.output.write(data.document(c.output.kept(all)), c.stdout)
}

func (s *standing) data() *campaignData {
	d := &campaignData{
		ID: s.ID, Name: s.Name, Description: s.Description, Folder: s.Dir, Seed: s.Seed,
		Nodes: s.Nodes, PerNode: s.RanksPerNode, Each: s.Launches,
	}
	row := map[stateCounts]int{} // of the table, by nodes and variant
	for _, v := range s.Variants() {
		d.Variants = append(d.Variants, v.Name)
	}
	for _, p := range s.status {
		of := stateCounts{Nodes: p.Nodes, Variant: p.Variant.Name}
		i, known := row[of]
		if !known {
			i = len(d.States)
			row[of], d.States = i, append(d.States, of)
		}
		d.States[i].Add(p.State)
		d.Launches = append(d.Launches, launchJSON{
			p.Launch.String(), p.Nodes, p.Number, p.Variant.Name, p.State, p.Points, p.Bad, p.Took.Seconds(),
		})
	}
	return d
}

func (c *stateCounts) Add(s campaign.State) {
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
func (s *standing) order() (all []jobJSON, err error) {
	for _, nodes := range s.NodesOrder() {
		for _, t := range s.Tasks(nodes) {
			launches, err := s.Of(t)
			if err != nil {
				return nil, err
			}
			job := jobJSON{Nodes: nodes, Task: t.Index, Block: launches[0].Block()}
			for _, l := range launches {
				job.Variants = append(job.Variants, l.Variant.Name)
			}
			all = append(all, job)
		}
	}
	return all, nil
}

// Notices are what there is to report: the plan, launches, and last what is to be submitted.
func (s *standing) Notices(queueKnown bool) (all []notice.Notice, err error) {
	for _, f := range s.Notes {
		all = append(all, notice.New(f))
	}
	for _, p := range s.status {
		if p.Found != nil {
			n := notice.New(p.Found)
			n.At.Subject = p.Launch.String()
			all = append(all, n)
		}
	}
	rest, err := s.rest(queueKnown)
	return append(all, notice.New(rest)), err
}

// rest is what is to be submitted, with its cost.
func (s *standing) rest(queueKnown bool) (notice.Fact, error) {
	jobs := 0
	for _, a := range s.arrays {
		jobs += len(a.Tasks)
	}
	switch {
	case jobs == 0 && len(s.queued) > 0:
		return notice.CampaignQueued{Jobs: len(s.queued)}, nil
	case jobs == 0:
		return notice.CampaignDone{Folder: s.Dir}, nil
	}
	cost, err := s.CostOf(s.arrays, s.status)
	return notice.CampaignJobs{
		Queue: notice.QueueKnown(queueKnown), Jobs: jobs, Bound: notice.NodeHours(cost.Bound), Limit: s.Sbatch.Time,
		Guess: notice.NodeHours(cost.Guess), Unknown: cost.Unknown,
	}, err
}

// document is the state as it is shown.
func (d *campaignData) document(notices []notice.Notice) *document.Document {
	fields := document.Fields{
		{Name: "nodes", Value: strings.ReplaceAll(strings.Trim(fmt.Sprint(d.Nodes), "[]"), " ", ", ")},
		{Name: "variants", Value: fmt.Sprint(len(d.Variants))},
		{Name: "launches", Value: fmt.Sprintf("%d (%d of each variant on each number of nodes)", len(d.Launches), d.Each)},
		{Name: "seed", Value: fmt.Sprint(d.Seed)},
		{Name: "folder", Value: d.Folder},
	}
	if d.Description != "" {
		fields = slices.Insert(fields, 0, document.Field{Name: "description", Value: d.Description})
	}
	states := &document.Table{Columns: document.NumericColumns("nodes", "variant", "done", "queued", "unfinished", "missing")}
	states.Columns[1].Right = false
	for _, c := range d.States {
		states.Row(fmt.Sprint(c.Nodes), titleOf(c.Variant), fmt.Sprint(c.Done), fmt.Sprint(c.Queued),
			fmt.Sprint(c.Unfinished), fmt.Sprint(c.Missing))
	}
	doc := &document.Document{Kind: "campaign", Title: "Campaign " + d.ID, Data: d, Notices: notices}
	doc.Add(fields, &document.Section{Title: "Launches", Blocks: []document.Block{states}})
	if d.Order != nil {
		var order document.Fields
		for _, job := range d.Order {
			var titles []string
			for _, v := range job.Variants {
				titles = append(titles, titleOf(v))
			}
			order = append(order, document.Field{Name: job.Block, Value: strings.Join(titles, ", ")})
		}
		doc.Add(&document.Section{Title: "Order", Blocks: []document.Block{order}})
	}
	if len(notices) > 0 {
		doc.Add(&document.Section{Title: "Findings", Blocks: []document.Block{document.Findings(notices)}})
	}
	return doc
}

func titleOf(variant string) string { return campaign.Variant{Name: variant}.Title() }
