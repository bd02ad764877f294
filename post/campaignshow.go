package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/campaign"
	"busbar/internal/units"
)

// show writes the state of a campaign: its table, what is worth a word, and what the rest costs.
func (c *campaigner) show(cmd *cobra.Command, path string) error {
	s, err := c.standing(cmd, path)
	if err != nil {
		return err
	}
	c.line("%s: %s of %s on %s: %s in all", s.ID, units.Count(s.Launches, "launch"), units.Count(len(s.Variants()), "variant"), nodesWords(s.Nodes), units.Count(len(s.status), "launch"))
	c.line("seed %d, in %s", s.Seed, s.Dir)
	if s.Description != "" {
		c.line("%s", s.Description)
	}
	c.table(s)
	for _, n := range s.Notes {
		c.line("note: %s", n)
	}
	for _, p := range s.status {
		switch {
		case p.State != campaign.Done && p.Why != "":
			c.line("%s: %s; %s there", p.Launch, p.Why, units.Count(p.Points, "point"))
		case p.Bad > 0:
			c.line("%s: done, but %d of %s failed or wrong", p.Launch, p.Bad, units.Count(p.Points, "point"))
		}
	}
	if c.order {
		if err := c.orders(s); err != nil {
			return err
		}
	}
	return c.rest(cmd, s)
}

func (c *campaigner) line(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), 80) {
		fmt.Fprintln(c.stdout, printable(l))
	}
}

func nodesWords(nodes []int) string {
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = fmt.Sprint(n)
	}
	if len(nodes) == 1 && nodes[0] == 1 {
		return "1 node"
	}
	return strings.Join(words, ", ") + " nodes"
}

// table has a row for each number of nodes and variant.
func (c *campaigner) table(s *standing) {
	type tally struct{ done, queued, unfinished, missing int }
	queued := s.inQueue()
	width := len("variant")
	counts := map[string]*tally{}
	row := func(nodes int, v campaign.Variant) string { return fmt.Sprint(nodes, " ", v.Name) }
	for _, p := range s.status {
		t := counts[row(p.Nodes, p.Variant)]
		if t == nil {
			t = &tally{}
			counts[row(p.Nodes, p.Variant)] = t
		}
		width = max(width, len(p.Variant.Title()))
		switch {
		case p.State == campaign.Done:
			t.done++
		case queued[p.String()]:
			t.queued++
		case p.State == campaign.Unfinished:
			t.unfinished++
		default:
			t.missing++
		}
	}
	fmt.Fprintf(c.stdout, "\nnodes  %-*s  done  queued  unfinished  missing\n", width, "variant")
	for _, nodes := range s.Nodes {
		for _, v := range s.Variants() {
			t := counts[row(nodes, v)]
			fmt.Fprintf(c.stdout, "%5d  %-*s  %4d  %6d  %10d  %7d\n", nodes, width, v.Title(), t.done, t.queued, t.unfinished, t.missing)
		}
	}
	fmt.Fprintln(c.stdout)
}

// inQueue are the launches of the jobs in the queue.
func (s *standing) inQueue() map[string]bool {
	in := map[string]bool{}
	for t := range s.queued {
		launches, err := s.Of(t)
		if err != nil {
			continue // a job of a plan that was longer
		}
		for _, l := range launches {
			in[l.String()] = true
		}
	}
	return in
}

// orders writes what each job takes in which order.
func (c *campaigner) orders(s *standing) error {
	for _, nodes := range s.NodesOrder() {
		for _, t := range s.Tasks(nodes) {
			launches, err := s.Of(t)
			if err != nil {
				return err
			}
			var names []string
			for _, l := range launches {
				names = append(names, l.Variant.Title())
			}
			c.line("order of %s: %s", launches[0].Block(), strings.Join(names, ", "))
		}
	}
	return nil
}

// rest says what is still to be submitted, and what it costs.
func (c *campaigner) rest(cmd *cobra.Command, s *standing) error {
	jobs := 0
	for _, a := range s.arrays {
		jobs += len(a.Tasks)
	}
	switch {
	case jobs > 0:
	case len(s.queued) > 0:
		c.line("nothing to submit: what is missing is in the queue")
		return nil
	default:
		c.line("nothing is missing: post merge %s", s.Dir)
		return nil
	}
	cost, err := s.CostOf(s.arrays, s.status)
	if err != nil {
		return err
	}
	what := "to submit"
	if !cmd.Flags().Changed("queued") {
		what = "not done, or in the queue"
	}
	words := fmt.Sprintf("%s: %s, at most %s (each to its limit of %s, once)", what, units.Count(jobs, "job"), nodeHours(cost.Bound), s.Sbatch.Time)
	if cost.Guess > 0 {
		words += fmt.Sprintf("; about %s by the launches that are done", nodeHours(cost.Guess))
		if cost.Unknown > 0 {
			words += fmt.Sprintf(", and %s of which nothing is known", units.Count(cost.Unknown, "launch"))
		}
	}
	c.line("%s", words)
	return nil
}

func nodeHours(h float64) string {
	if h < 0.095 {
		return fmt.Sprintf("%.3f node-hours", h)
	}
	return fmt.Sprintf("%.1f node-hours", h)
}
