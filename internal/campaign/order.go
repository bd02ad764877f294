package campaign

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
)

// The order of everything is drawn by the seed: things are sorted by the SHA-256 of the seed and their name, which is a
// shuffle that every language can repeat, and one that stays as it is when the plan grows.

func (p *Plan) shuffled(what string, names []string) []int {
	order, keys := make([]int, len(names)), make([][]byte, len(names))
	for i, name := range names {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", p.Seed, what, name))
		order[i], keys[i] = i, sum[:]
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	return order
}

// Order is the order of the launches of one block.
func (p *Plan) Order(nodes, number int) []Launch {
	variants := p.Variants()
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	launches := make([]Launch, len(variants))
	for place, i := range p.shuffled(Block(nodes, number), names) {
		launches[place] = Launch{nodes, number, variants[i]}
	}
	return launches
}

// NodesOrder is the order in which the jobs of each number of nodes are submitted.
func (p *Plan) NodesOrder() []int {
	names := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		names[i] = fmt.Sprint(n)
	}
	order := make([]int, len(p.Nodes))
	for place, i := range p.shuffled("nodes", names) {
		order[place] = p.Nodes[i]
	}
	return order
}

// parts is how many jobs share a block.
func (p *Plan) parts() int {
	if p.Steps == 0 {
		return 1
	}
	variants := len(p.Variants())
	return (variants + p.Steps - 1) / p.Steps
}

// Task is one job of an array: a block, or where that is too long for one job a part of it.
type Task struct{ Nodes, Index int } // Index from 1: of Slurm's array

// Tasks are those of a number of nodes.
func (p *Plan) Tasks(nodes int) []Task {
	tasks := make([]Task, p.Launches*p.parts())
	for i := range tasks {
		tasks[i] = Task{nodes, i + 1}
	}
	return tasks
}

// Of are the launches of a task, in the order in which it takes them. The error is that the plan has no such task.
func (p *Plan) Of(t Task) ([]Launch, error) {
	parts := p.parts()
	if !slices.Contains(p.Nodes, t.Nodes) || t.Index < 1 || t.Index > p.Launches*parts {
		return nil, fmt.Errorf("the plan %s has no task %d on %d nodes: it has %d for each of %v nodes", p.Name,
			t.Index,
			t.Nodes, p.Launches*parts, p.Nodes)
	}
	launches := p.Order(t.Nodes, (t.Index-1)/parts+1)
	if parts == 1 {
		return launches, nil
	}
	first := (t.Index - 1) % parts * p.Steps
	return launches[first:min(first+p.Steps, len(launches))], nil
}
