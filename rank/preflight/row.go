package preflight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/units"
	"busbar/rank/launch"
)

// Row is the result of one check on the ranks that share it. Info means passed.
type Row struct {
	Check string
	notice.Notice

	ranks  []int   // empty: all
	class  string  // rows of one class differ only by an amount; the smallest is shown
	amount float64 // in any unit
	worst  string  // host of the smallest amount, if others have more
}

// Found returns the row of a fact on all ranks, with the severity of the catalogue.
func Found(check string, f notice.Fact) Row { return Row{Check: check, Notice: notice.New(f)} }

// found is Found for a check whose name is in a table.
func found(f notice.Fact) Row { return Found("", f) }

// graded sets the severity of the row.
func (r Row) graded(s notice.Severity) Row {
	r.Severity = s
	return r
}

// smallest merges rows of a class that differ by amount.
func (r Row) smallest(class string, amount float64) Row {
	r.class, r.amount = class, amount
	return r
}

// On sets the ranks of a row.
func (r Row) On(ranks ...int) Row {
	r.ranks = ranks
	return r
}

// mergeRows merges rows with the same fact on different ranks, in order of first appearance.
func mergeRows(rows []Row, ranks []launch.RankFacts) []Row {
	type key struct {
		check    string
		severity notice.Severity
		code     notice.Code
		same     string // the class, or the parameters
	}
	var merged []Row
	smallest := map[int][]int{} // ranks of the smallest amount, by merged row
	at := map[key]int{}
	for _, r := range rows {
		k := key{r.Check, r.Severity, r.Code(), r.class}
		if k.same == "" {
			parameters, _ := json.Marshal(r.Fact) // facts are plain structs
			k.same = string(parameters)
		}
		i, known := at[k]
		if !known {
			i = len(merged)
			at[k], smallest[i] = i, r.ranks
			r.ranks = slices.Clone(r.ranks)
			merged = append(merged, r)
			continue
		}
		m := &merged[i]
		m.ranks = append(m.ranks, r.ranks...)
		differ := r.amount != m.amount
		if r.amount < m.amount {
			m.Fact, m.amount, smallest[i] = r.Fact, r.amount, r.ranks
		}
		if (differ || m.worst != "") && len(smallest[i]) > 0 {
			m.worst = ranks[smallest[i][0]].Host
		}
	}
	for i := range merged {
		merged[i].At.Subject = merged[i].place(ranks)
	}
	return merged
}

// whereabouts splits ranks into hosts with all their ranks, and single ranks; no ranks mean all.
func whereabouts(of []int, ranks []launch.RankFacts) (hosts []string, single []launch.Report) {
	if len(of) == 0 {
		for i := range ranks {
			of = append(of, i)
		}
	}
	size := map[string]int{}
	for _, r := range ranks {
		size[r.Host]++
	}
	of = slices.Compact(slices.Sorted(slices.Values(of)))
	for _, mine := range units.GroupBy(of, func(r int) string { return ranks[r].Host }) {
		host := ranks[mine[0]].Host
		if len(mine) == size[host] {
			hosts = append(hosts, host)
			continue
		}
		for _, r := range mine {
			single = append(single, launch.Report{Rank: r, Host: host, Standing: launch.Answered})
		}
	}
	return hosts, single
}

// place describes where a row applies; "" if everywhere.
func (r Row) place(ranks []launch.RankFacts) string {
	hosts, single := whereabouts(r.ranks, ranks)
	everywhere, _ := whereabouts(nil, ranks)
	var parts []string
	if len(hosts) < len(everywhere) {
		if len(hosts) > 0 {
			parts = append(parts, ranges.Names(hosts))
		}
		if len(single) > 0 {
			parts = append(parts, launch.RankNames(single))
		}
	}
	if r.worst != "" {
		parts = append(parts, "worst on "+r.worst)
	}
	return strings.Join(parts, ", ")
}

// where lists the hosts of a row, and single ranks of other hosts.
func (r Row) where(ranks []launch.RankFacts) []string {
	hosts, single := whereabouts(r.ranks, ranks)
	for _, s := range single {
		hosts = append(hosts, fmt.Sprintf("rank %d on %s", s.Rank, s.Host))
	}
	return hosts
}
