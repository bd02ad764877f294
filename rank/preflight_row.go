package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// verdict is what a check comes to.
type verdict string

// The verdicts. With a warning a run works, but its figures or its end may not be what they seem.
const (
	passed  verdict = "ok"
	caution verdict = "warning"
	problem verdict = "problem"
)

// verdicts are ordered: the worst row's counts.
var verdicts = []verdict{passed, caution, problem}

// row is what one check found on those ranks that found the same.
type row struct {
	Check   string   `json:"check"`
	Verdict verdict  `json:"verdict"`
	Found   string   `json:"found"`
	Advice  string   `json:"advice"` // what to do; empty if all is well
	Where   []string `json:"where"`  // hosts, and ranks where not all of a host are meant

	ranks  []int   // empty: all
	class  string  // rows of one class differ in an amount alone: the least one's text is shown
	amount float64 // in any unit
}

// least makes rows that differ in an amount one.
func (r row) least(class string, amount float64) row {
	r.class, r.amount = class, amount
	return r
}

// on says which ranks a row is about.
func (r row) on(ranks ...int) row {
	r.ranks = ranks
	return r
}

func fine(check, format string, a ...any) row {
	return row{Check: check, Verdict: passed, Found: fmt.Sprintf(format, a...)}
}

func warn(check, advice, format string, a ...any) row {
	return row{Check: check, Verdict: caution, Found: fmt.Sprintf(format, a...), Advice: advice}
}

func bad(check, advice, format string, a ...any) row {
	return row{Check: check, Verdict: problem, Found: fmt.Sprintf(format, a...), Advice: advice}
}

// mergeRows makes one row of those that say the same of different ranks, in the order in which they first came.
func mergeRows(rows []row, ranks []rankFacts) []row {
	type key struct {
		check  string
		v      verdict
		advice string
		class  string
	}
	type merged struct {
		row
		texts int // different ones
		least []int
	}
	var order []*merged
	by := map[key]*merged{}
	for _, r := range rows {
		k := key{r.Check, r.Verdict, r.Advice, cmp.Or(r.class, r.Found)}
		m := by[k]
		if m == nil {
			m = &merged{row: r, texts: 1, least: r.ranks}
			m.ranks = slices.Clone(r.ranks)
			by[k], order = m, append(order, m)
			continue
		}
		m.ranks = append(m.ranks, r.ranks...)
		if r.Found != m.Found {
			m.texts++
		}
		if r.amount < m.amount {
			m.Found, m.amount, m.least = r.Found, r.amount, r.ranks
		}
	}
	out := make([]row, len(order))
	for i, m := range order {
		out[i] = m.row
		if m.texts > 1 && len(m.least) > 0 {
			out[i].Found += fmt.Sprintf(" (on %s; better elsewhere)", ranks[m.least[0]].Host)
		}
		hosts, single := whereabouts(out[i].ranks, ranks)
		out[i].Where = hosts
		for _, r := range single {
			out[i].Where = append(out[i].Where, fmt.Sprintf("rank %d on %s", r.Rank, r.Host))
		}
	}
	return out
}

// whereabouts sorts ranks into hosts that are there with all their ranks, and the rest; none are all.
func whereabouts(of []int, ranks []rankFacts) (hosts []string, single []report) {
	all, mine := map[string]int{}, map[string][]int{}
	for _, r := range ranks {
		all[r.Host]++
	}
	if len(of) == 0 {
		for i := range ranks {
			of = append(of, i)
		}
	}
	of = slices.Compact(slices.Sorted(slices.Values(of)))
	var order []string
	for _, r := range of {
		host := ranks[r].Host
		if mine[host] == nil {
			order = append(order, host)
		}
		mine[host] = append(mine[host], r)
	}
	for _, host := range order {
		if len(mine[host]) == all[host] {
			hosts = append(hosts, host)
			continue
		}
		for _, r := range mine[host] {
			single = append(single, report{Rank: r, Host: host, Standing: answered})
		}
	}
	return hosts, single
}

// place says where a row holds, for people; "" where it holds everywhere.
func (r row) place(ranks []rankFacts) string {
	hosts, single := whereabouts(r.ranks, ranks)
	everywhere, _ := whereabouts(nil, ranks)
	if len(hosts) == len(everywhere) {
		return ""
	}
	var parts []string
	if len(hosts) > 0 {
		parts = append(parts, hostRange(hosts))
	}
	if len(single) > 0 {
		parts = append(parts, names(single))
	}
	return strings.Join(parts, ", ")
}

// hostRange shortens a list of hosts: "node01-node08, node11".
func hostRange(hosts []string) string {
	const most = 6
	hosts = slices.SortedFunc(slices.Values(hosts), func(a, b string) int {
		pa, na := numbered(a)
		pb, nb := numbered(b)
		x, _ := strconv.Atoi(na)
		y, _ := strconv.Atoi(nb)
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(x, y), cmp.Compare(a, b))
	})
	var parts []string
	for i := 0; i < len(hosts); {
		j := i
		for j+1 < len(hosts) && hosts[j+1] == nextHost(hosts[j]) {
			j++
		}
		part := hosts[i]
		if j > i {
			part += "-" + hosts[j]
		}
		parts = append(parts, part)
		i = j + 1
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}

// numbered splits a name into what goes before its last digits, and those.
func numbered(host string) (prefix, digits string) {
	prefix = strings.TrimRight(host, "0123456789")
	return prefix, host[len(prefix):]
}

// nextHost is the name that would follow: node010 after node09 has no place, node10 has. "" if there is no number.
func nextHost(host string) string {
	prefix, digits := numbered(host)
	n, err := strconv.Atoi(digits)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s%0*d", prefix, len(digits), n+1)
}
