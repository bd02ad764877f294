package nccllog

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxAnswers is how many answers of ncclras are kept, and maxRAS how many lines or ranks of each list in one.
const (
	maxAnswers = 256
	maxRAS     = 1 << 14
)

// What ncclras reports of a communicator.
var (
	rankLine    = regexp.MustCompile(`^Rank (\d+)\b *(.*)$`)
	launchedUp  = regexp.MustCompile(`^(?:(\d+) ranks?|Rank \d+) .*launched(?:.* operation (\d+))?`)
	differIn    = regexp.MustCompile(`have different (.*?) ?operation counts`)
	missingData = regexp.MustCompile(`^Missing communicator data from (\d+)`)
	someRanks   = regexp.MustCompile(` ranks (?:have|reported) `)
)

// rasText reads the text of ncclras, line by line.
type rasText struct {
	r       *Reader
	answer  *RAS
	groups  map[string]RASComm // of the summary, by number
	section string             // Errors or Warnings
	comm    *RASComm           // that the lines are of; nil: of the job
	heading string             // the word above: INCOMPLETE, DEAD, TIMEOUT
	what    string             // collective whose counts follow
	ranks   *[]int             // to which named ranks belong
	total   bool               // the row of the job's numbers comes next
}

func (t *rasText) begin() {
	t.close()
	t.answer = &RAS{File: len(t.r.log.Files) - 1, Nodes: Unknown, Processes: Unknown, GPUs: Unknown,
		Missing: []string{},
		Comms:   []RASComm{}, Problems: []string{}}
	t.groups = map[string]RASComm{}
}

func (t *rasText) close() {
	if t.answer != nil && len(t.r.log.RAS) < maxAnswers {
		for i := range t.answer.Comms {
			t.answer.Comms[i].nameRest()
		}
		t.r.log.RAS = append(t.r.log.RAS, *t.answer)
	}
	*t = rasText{r: t.r}
}

// nameRest names the ranks of a count where ncclras names those of all other counts of the same collective alone: it
// names few ranks, and only counts how many the others are.
func (c *RASComm) nameRest() {
	for i := range c.Counts {
		rest := &c.Counts[i]
		total, named := 0, []int{}
		for _, n := range c.Counts {
			if n.Name == rest.Name {
				total += n.Many
				named = append(named, n.Ranks...)
			}
		}
		if len(rest.Ranks) > 0 || total != c.Ranks || len(named) != total-rest.Many {
			continue
		}
		for r := range c.Ranks {
			if !slices.Contains(named, r) {
				rest.Ranks = append(rest.Ranks, r)
			}
		}
		if len(rest.Ranks) != rest.Many { // a rank was named twice
			rest.Ranks = []int{}
		}
	}
}

// line reads one line; one that does not end may lack digits.
func (t *rasText) line(line string, ended bool) {
	words := strings.Fields(line)
	if len(words) == 0 || !ended {
		return
	}
	if v, ok := readVersion(line); ok && strings.Contains(line, " compiled with ") {
		t.begin()
		t.answer.Version = v.Text
		return
	}
	if strings.HasPrefix(line, "Job summary") && (t.answer == nil || t.answer.Nodes != Unknown) {
		t.begin()
	}
	if t.answer == nil {
		return
	}
	switch {
	case line == "Errors" || line == "Warnings":
		t.section, t.comm, t.heading = line, nil, ""
	case strings.HasPrefix(line, "Communicators..."):
		t.section = ""
	case words[0] == "(total)":
		t.total = true
	case t.total:
		t.total = false
		t.job(words)
	case t.section == "" && len(words) == 8:
		t.group(words)
	case t.section != "" && !strings.HasPrefix(line, " ") && strings.Trim(line, "=-") != "":
		t.head(words)
	case t.section != "" && strings.HasPrefix(line, " "):
		t.said(strings.TrimSpace(line), words)
	}
}

func whole(words []string) (all []int, ok bool) {
	for _, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}

func (t *rasText) job(words []string) {
	n, ok := whole(words)
	switch {
	case ok && len(n) == 5:
		t.answer.Nodes, t.answer.Processes, t.answer.GPUs = n[0], n[3], n[4]
	case ok && len(n) == 3:
		t.answer.Nodes, t.answer.Processes, t.answer.GPUs = n[0], n[1], n[2]
	}
}

// group reads a row of the summary: "0 8 4 1-2 4 32 RUNNING OK".
func (t *rasText) group(words []string) {
	n, ok := whole([]string{words[0], words[1], words[4]})
	if !ok {
		return
	}
	g := RASComm{Comms: n[1], Ranks: n[2], Status: words[6], Errors: words[7], Counts: []RASCount{},
		States: []RASMessage{}}
	t.groups[words[0]] = g
	t.add(g)
}

func (t *rasText) add(c RASComm) *RASComm {
	if len(t.answer.Comms) >= maxRAS {
		return nil
	}
	t.answer.Comms = append(t.answer.Comms, c)
	return &t.answer.Comms[len(t.answer.Comms)-1]
}

// head reads "#0-0 (cf264af53edbe986) INCOMPLETE", or a word alone that is of the whole job.
func (t *rasText) head(words []string) {
	t.comm, t.ranks, t.what, t.heading = nil, nil, "", words[0]
	if !strings.HasPrefix(words[0], "#") || len(words) < 3 {
		return
	}
	group, _, _ := strings.Cut(words[0][1:], "-")
	id := "0x" + strings.Trim(words[1], "()")
	t.heading = id + " " + words[2]
	if i := slices.IndexFunc(t.answer.Comms, func(c RASComm) bool { return c.ID == id }); i >= 0 {
		t.comm = &t.answer.Comms[i]
		t.comm.Errors += " " + words[2]
		return
	}
	g := t.groups[group]
	c := RASComm{ID: id, Comms: 1, Ranks: g.Ranks, Status: g.Status, Errors: words[2], Counts: []RASCount{},
		States: []RASMessage{}}
	if g.Ranks == 0 {
		c.Ranks = Unknown
	}
	t.comm = t.add(c)
}

// said reads the lines below a heading.
func (t *rasText) said(line string, words []string) {
	switch {
	case words[0] == "Process":
		if len(t.answer.Missing) < maxRAS && !slices.Contains(t.answer.Missing, line) {
			t.answer.Missing = append(t.answer.Missing, line)
		}
	case t.comm == nil:
		t.problem(line)
	default:
		t.ofComm(line, strings.Join(words, " "))
	}
}

// ofComm reads what is reported of a communicator: counts and states of ranks, and below them the ranks.
func (t *rasText) ofComm(line, text string) {
	text, _, _ = strings.Cut(text, " --")
	rank := rankLine.FindStringSubmatch(text)
	if rank != nil && rank[2] == "" {
		t.rank(rank[1])
		return
	}
	t.ranks = nil
	switch launched := launchedUp.FindStringSubmatch(text); {
	case strings.HasPrefix(line, "The missing rank"):
		_, list, _ := strings.Cut(line, ":")
		t.says(line)
		for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			t.rank(w)
		}
	case launched != nil:
		t.launched(launched, rank)
	case rank != nil:
		t.says(rank[2])
		t.rank(rank[1])
	case differIn.MatchString(text):
		t.what = ""
		if what := differIn.FindStringSubmatch(text)[1]; what != "collective" {
			t.what = what
		}
		t.problem(line)
	case someRanks.MatchString(text) && !strings.HasPrefix(text, "Communicator ranks"):
		t.says(text)
	default:
		if missing := missingData.FindStringSubmatch(text); missing != nil {
			t.comm.Missing, _ = strconv.Atoi(missing[1])
		}
		t.problem(line)
	}
}

// launched keeps "26 ranks have launched up to operation 6650" and "Rank 3 has not launched any operations".
func (t *rasText) launched(found, rank []string) {
	if len(t.comm.Counts) >= maxRAS {
		return
	}
	c := RASCount{Name: t.what, Many: 1, Ranks: []int{}}
	if rank == nil {
		c.Many, _ = strconv.Atoi(found[1])
	}
	c.Calls, _ = strconv.ParseInt(found[2], 10, 64)
	t.comm.Counts = append(t.comm.Counts, c)
	t.ranks = &t.comm.Counts[len(t.comm.Counts)-1].Ranks
	if rank != nil {
		t.rank(rank[1])
		t.ranks = nil
	}
}

// says keeps a state of ranks, which follow.
func (t *rasText) says(text string) {
	if len(t.comm.States) < maxRAS {
		t.comm.States = append(t.comm.States, RASMessage{Says: text, Ranks: []int{}})
		t.ranks = &t.comm.States[len(t.comm.States)-1].Ranks
	}
}

// rank adds a rank to the count or the state above it.
func (t *rasText) rank(number string) {
	if n, err := strconv.Atoi(number); err == nil && t.ranks != nil && len(*t.ranks) < maxRAS {
		*t.ranks = append(*t.ranks, n)
	}
}

func (t *rasText) problem(line string) {
	if len(t.answer.Problems) < maxRAS {
		t.answer.Problems = append(t.answer.Problems, t.heading+": "+line)
	}
}

// rasDocument is one answer of ncclras as JSON (2.28.7 and later).
type rasDocument struct {
	Version string `json:"nccl_version"`
	Comms   []struct {
		Hash    string    `json:"hash"`
		Size    int       `json:"size"`
		Missing int       `json:"missing_ranks_count"`
		Ranks   []rasRank `json:"ranks"`
		Lost    []rasRank `json:"missing_ranks"`
	} `json:"communicators"`
	RAS struct {
		Timeouts int `json:"timeouts_count"`
	} `json:"ras"`
}

// rasRank is one rank, there or missing.
type rasRank struct {
	Rank   int    `json:"rank"`
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	Device int    `json:"cuda_dev"`
	Status struct {
		Init         int  `json:"init_state"`
		Async        int  `json:"async_error"`
		Finalize     bool `json:"finalize_called"`
		Destroy      bool `json:"destroy_flag"`
		Abort        bool `json:"abort_flag"`
		Unresponsive bool `json:"unresponsive"`
		Dead         bool `json:"considered_dead"`
	} `json:"status"`
	Counts map[string]int64 `json:"collective_counts"`
}

func (k rasRank) state() string {
	s := k.Status
	switch {
	case s.Dead:
		return "DEAD"
	case s.Unresponsive:
		return "UNRESPONSIVE"
	case s.Abort:
		return "ABORT"
	case s.Finalize || s.Destroy:
		return "FINALIZE"
	case s.Init == inProgress:
		return "INIT"
	case s.Init != 0:
		return fmt.Sprintf("init error %d", s.Init)
	case s.Async != 0 && s.Async != inProgress:
		return fmt.Sprintf("asynchronous error %d", s.Async)
	}
	return "RUNNING"
}

// rasJSON reads the documents of one file.
func (r *Reader) rasJSON(f *File, in *bufio.Reader) {
	d := json.NewDecoder(in)
	for {
		var doc rasDocument
		if err := d.Decode(&doc); err != nil {
			if !errors.Is(err, io.EOF) {
				f.Cut = err.Error()
			}
			return
		}
		if len(r.log.RAS) < maxAnswers {
			r.log.RAS = append(r.log.RAS, doc.answer(len(r.log.Files)-1))
		}
	}
}

func (doc rasDocument) answer(file int) RAS {
	a := RAS{File: file, Version: doc.Version, Nodes: Unknown, Processes: Unknown,
		GPUs: Unknown, Missing: []string{}, Comms: []RASComm{}, Problems: []string{}}
	hosts, procs, gpus := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range doc.Comms {
		out := RASComm{ID: c.Hash, Comms: 1, Ranks: c.Size, Missing: c.Missing, Errors: "OK",
			Counts: []RASCount{},
			States: []RASMessage{}}
		states, counts := map[string][]int{}, map[rasCount][]int{}
		for _, k := range slices.Concat(c.Ranks, c.Lost) {
			process := k.Host + " " + strconv.Itoa(k.PID)
			hosts[k.Host], procs[process], gpus[process+" "+strconv.Itoa(k.Device)] = true, true, true
			states[k.state()] = append(states[k.state()], k.Rank)
		}
		for _, k := range c.Ranks {
			for name, calls := range k.Counts {
				key := rasCount{name, calls}
				counts[key] = append(counts[key], k.Rank)
			}
		}
		for _, k := range c.Lost {
			text := fmt.Sprintf("Process %d on node %s managing GPU %d", k.PID, k.Host, k.Device)
			if !slices.Contains(a.Missing, text) && len(a.Missing) < maxRAS {
				a.Missing = append(a.Missing, text)
			}
		}
		out.judge(states, counts)
		a.Comms = append(a.Comms, out)
		if out.Errors != "OK" {
			a.Problems = append(a.Problems, out.ID+" "+out.Errors)
		}
	}
	if doc.RAS.Timeouts > 0 {
		a.Problems = append(a.Problems, fmt.Sprintf("TIMEOUT: %d while gathering communicator data", doc.RAS.Timeouts))
	}
	if len(doc.Comms) > 0 {
		a.Nodes, a.Processes, a.GPUs = len(hosts), len(procs), len(gpus)
	}
	return a
}

// rasCount is a number of calls of one collective.
type rasCount struct {
	name  string
	calls int64
}

// judge says what the states and counts of its ranks come to.
func (c *RASComm) judge(states map[string][]int, counts map[rasCount][]int) {
	for _, s := range slices.Sorted(maps.Keys(states)) {
		slices.Sort(states[s])
		c.States = append(c.States, RASMessage{Says: s, Ranks: states[s]})
	}
	slices.SortStableFunc(c.States, func(a, b RASMessage) int { return cmp.Compare(len(b.Ranks), len(a.Ranks)) })
	if len(c.States) > 0 {
		c.Status = c.States[0].Says
	}
	sides := map[string]int{}
	for key, ranks := range counts {
		sides[key.name]++
		slices.Sort(ranks)
		c.Counts = append(c.Counts, RASCount{Name: key.name, Calls: key.calls, Many: len(ranks), Ranks: ranks})
	}
	slices.SortFunc(c.Counts, func(a, b RASCount) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Calls, a.Calls))
	})
	for _, s := range c.States {
		if strings.Contains(s.Says, "error") || s.Says == "ABORT" {
			c.Errors = "ERROR"
			return
		}
	}
	for _, n := range sides {
		if n > 1 && c.Errors == "OK" {
			c.Errors = "MISMATCH"
		}
	}
	if c.Missing > 0 {
		c.Errors = "INCOMPLETE"
	}
}
