package nccllog

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// maxRAS is how many lines or ranks of each list of an answer of ncclras are kept.
const maxRAS = 1 << 14

// What ncclras reports of the job, and of a communicator.
var (
	rasJobRow   = regexp.MustCompile(`^ +(\d+) +(?:\d+ +\d+ +)?(\d+) +(\d+)$`)
	rasGroupRow = regexp.MustCompile(`^ +(\d+) +(\d+) +\S+ +\S+ +(\d+) +\S+ +(\S+) +(\S+)$`)
	rasHeading  = regexp.MustCompile(`^#(\d+)-\d+ +\((\w+)\) +(\S+)`)
	rankLine    = regexp.MustCompile(`^Rank (\d+)\b *(.*)$`)
	launchedUp  = regexp.MustCompile(`^(?:(\d+) ranks?|Rank \d+) .*launched(?:.* operation (\d+))?`)
	differIn    = regexp.MustCompile(`have different (.*?) ?operation counts`)
	missingData = regexp.MustCompile(`^Missing communicator data from (\d+)`)
	someRanks   = regexp.MustCompile(`^(?:[^C].*)? ranks (?:have|reported) `)
)

// dataMissing is the state of ranks of which RAS has no data.
const dataMissing = "missing"

// rasText reads the text of ncclras, line by line.
type rasText struct {
	r       *Reader
	answer  *RAS
	groups  map[string]RASComm // of the summary, by number
	comm    *RASComm           // that the lines are of; nil: of the job
	heading string             // the word above: INCOMPLETE, DEAD, TIMEOUT; "" before Errors and Warnings
	what    string             // collective whose counts follow
	ranks   *nccllogs.Ranks    // to which named ranks belong
}

func (t *rasText) begin(version string) {
	t.close()
	t.answer = newRAS(t.r, version)
	t.groups = map[string]RASComm{}
}

func newRAS(r *Reader, version string) *RAS {
	return &RAS{File: len(r.log.Files) - 1, Version: version, Nodes: Unknown, Processes: Unknown, GPUs: Unknown}
}

func newRASComm(id string, comms, ranks int, status, errors string) RASComm {
	return RASComm{ID: id, Comms: comms, Ranks: ranks, Status: status, Errors: errors, GPUs: map[int]string{}}
}

// close keeps the answer.
func (t *rasText) close() {
	if t.answer != nil {
		for c := range units.Each(t.answer.Comms) {
			c.nameRest()
			c.States = slices.DeleteFunc(c.States, func(s nccllogs.RankState) bool {
				return s.State == dataMissing && len(s.Ranks) == 0
			})
		}
		t.r.log.RAS = append(t.r.log.RAS, *t.answer)
	}
	*t = rasText{r: t.r}
}

// nameRest names the ranks of a count where ncclras names those of all other counts of the same collective alone: it
// names few ranks, and only counts how many the others are.
func (c *RASComm) nameRest() {
	if c.Ranks > maxRAS {
		return
	}
	for rest := range units.Each(c.Counts) {
		total := 0
		others := map[int]bool{}
		for _, n := range c.Counts {
			if n.Name == rest.Name {
				total += n.Many
				for _, rank := range n.Ranks {
					others[rank] = true
				}
			}
		}
		if len(rest.Ranks) > 0 || total != c.Ranks || len(others) != total-rest.Many {
			continue
		}
		for rank := range c.Ranks {
			if !others[rank] {
				rest.Ranks = append(rest.Ranks, rank)
			}
		}
	}
}

// line reads one line; one that does not end may lack digits.
func (t *rasText) line(line string, ended bool) {
	text := strings.TrimSpace(line)
	if text == "" || !ended {
		return
	}
	if v, ok := readVersion(line); ok && strings.Contains(line, "compiled with") {
		t.begin(v.Text)
		return
	}
	if strings.HasPrefix(line, "Job summary") && (t.answer == nil || t.answer.Nodes != Unknown) {
		t.begin("")
	}
	switch {
	case t.answer == nil:
	case line == "Errors" || line == "Warnings":
		t.comm, t.heading = nil, line
	case strings.HasPrefix(line, "Communicators..."):
		t.heading = ""
	case t.heading == "":
		t.summary(line)
	case line == text && strings.Trim(line, "=-") != "":
		t.head(line)
	case line == text:
	case strings.HasPrefix(text, "Process "):
		addText(&t.answer.Missing, text)
	case t.comm == nil:
		t.problem(text)
	default:
		t.ofComm(text)
	}
}

// addText adds a text to a list, once.
func addText(all *[]string, text string) {
	if len(*all) < maxRAS && !slices.Contains(*all, text) {
		*all = append(*all, text)
	}
}

// summary reads a row of the job's numbers, and of communicators: "0 8 4 1-2 4 32 RUNNING OK".
func (t *rasText) summary(line string) {
	numbers := func(words []string) (all [3]int) {
		for i := range all {
			all[i], _ = strconv.Atoi(words[i])
		}
		return all
	}
	if job := rasJobRow.FindStringSubmatch(line); job != nil {
		n := numbers(job[1:])
		t.answer.Nodes, t.answer.Processes, t.answer.GPUs = n[0], n[1], n[2]
	}
	if group := rasGroupRow.FindStringSubmatch(line); group != nil {
		n := numbers(group[1:])
		t.groups[group[1]] = newRASComm("", n[1], n[2], group[4], group[5])
		t.add(t.groups[group[1]])
	}
}

func (t *rasText) add(c RASComm) *RASComm {
	all := &t.answer.Comms
	if len(*all) >= maxRAS {
		return nil
	}
	*all = append(*all, c)
	return &(*all)[len(*all)-1]
}

// head reads "#0-0 (cf264af53edbe986) INCOMPLETE", or a word alone that is of the whole job.
func (t *rasText) head(line string) {
	t.comm, t.ranks, t.what, t.heading = nil, nil, "", line
	of := rasHeading.FindStringSubmatch(line)
	if of == nil {
		return
	}
	id, found := "0x"+of[2], of[3]
	t.heading = id + " " + found
	if i := slices.IndexFunc(t.answer.Comms, func(c RASComm) bool { return c.ID == id }); i >= 0 {
		t.comm = &t.answer.Comms[i]
		t.comm.Errors += " " + found
		return
	}
	g, known := t.groups[of[1]]
	if !known {
		g.Ranks = Unknown
	}
	t.comm = t.add(newRASComm(id, 1, g.Ranks, g.Status, found))
}

// ofComm reads what is reported of a communicator: counts and states of ranks, and below them the ranks.
func (t *rasText) ofComm(line string) {
	text, where, _ := strings.Cut(line, " --")
	rank := rankLine.FindStringSubmatch(text)
	if rank != nil && rank[2] == "" {
		t.rank(rank[1])
		if n, err := strconv.Atoi(rank[1]); err == nil && where != "" && len(t.comm.GPUs) < maxRAS {
			t.comm.GPUs[n] = where
		}
		return
	}
	c := t.comm
	t.ranks = nil
	switch launched := launchedUp.FindStringSubmatch(text); {
	case strings.HasPrefix(line, "The missing rank"):
		_, list, _ := strings.Cut(line, ":")
		t.state(line)
		for _, w := range strings.Fields(strings.ReplaceAll(list, ",", " ")) {
			t.rank(w)
		}
	case launched != nil && len(c.Counts) < maxRAS: // "26 ranks have launched up to operation 6650", "Rank 3 has not …"
		n := nccllogs.CallCount{Name: t.what, Many: 1}
		n.Calls, _ = strconv.ParseInt(launched[2], 10, 64)
		if rank == nil {
			n.Many, _ = strconv.Atoi(launched[1])
		}
		c.Counts = append(c.Counts, n)
		t.ranks = &c.Counts[len(c.Counts)-1].Ranks
		if rank != nil {
			t.rank(rank[1])
		}
	case rank != nil:
		t.state(rank[2])
		t.rank(rank[1])
	case someRanks.MatchString(text):
		t.state(text)
	default:
		if what := differIn.FindStringSubmatch(text); what != nil {
			t.what = strings.Replace(what[1], "collective", "", 1)
		}
		if missing := missingData.FindStringSubmatch(text); missing != nil {
			c.Missing, _ = strconv.Atoi(missing[1])
			t.state(dataMissing) // of ranks that may follow
		}
		t.problem(line)
	}
}

// state keeps a state of ranks, which follow.
func (t *rasText) state(text string) {
	all := &t.comm.States
	if len(*all) < maxRAS {
		*all = append(*all, nccllogs.RankState{State: text})
		t.ranks = &(*all)[len(*all)-1].Ranks
	}
}

// rank adds a rank to the count or the state above it.
func (t *rasText) rank(number string) {
	if n, err := strconv.Atoi(number); err == nil && t.ranks != nil && len(*t.ranks) < maxRAS {
		*t.ranks = append(*t.ranks, n)
	}
}

func (t *rasText) problem(line string) { addText(&t.answer.Problems, t.heading+": "+line) }

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

// noComma is where NCCL 2.28.9 omits the comma between objects of a list (github.com/ray-project/ray, issue 64928). It
// is also between answers, so that all of a file are read as one list.
var noComma = regexp.MustCompile(`}\s+{`)

// rasJSON reads the documents of one file.
func (r *Reader) rasJSON(f *File, in *bufio.Reader) {
	text, err := io.ReadAll(in)
	d := json.NewDecoder(strings.NewReader("[" + noComma.ReplaceAllString(string(text), "},{")))
	for _, e := d.Token(); e == nil && d.More(); {
		var doc rasDocument
		if e = d.Decode(&doc); e != nil {
			err = cmp.Or(err, e)
			break
		}
		a := newRAS(r, doc.Version)
		doc.answer(a)
		r.log.RAS = append(r.log.RAS, *a)
	}
	if err != nil {
		f.Cut = err.Error()
	}
}

func (doc rasDocument) answer(a *RAS) {
	hosts, procs, gpus := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range doc.Comms {
		out := newRASComm(c.Hash, 1, c.Size, "", "OK")
		out.Missing = c.Missing
		for _, k := range slices.Concat(c.Ranks, c.Lost) {
			process := k.Host + " " + strconv.Itoa(k.PID)
			gpu := process + " " + strconv.Itoa(k.Device)
			hosts[k.Host], procs[process], gpus[gpu], out.GPUs[k.Rank] = true, true, true, gpu
			out.addState(k)
		}
		for _, k := range c.Ranks {
			for name, calls := range k.Counts {
				out.addCount(name, calls, k.Rank)
			}
		}
		for _, k := range c.Lost {
			addText(&a.Missing, fmt.Sprintf("Process %d on node %s managing GPU %d", k.PID, k.Host, k.Device))
		}
		out.judge()
		a.Comms = append(a.Comms, out)
		if out.Errors != "OK" {
			a.Problems = append(a.Problems, out.ID+" "+out.Errors)
		}
	}
	if doc.RAS.Timeouts > 0 {
		a.Problems = append(a.Problems, fmt.Sprintf("TIMEOUT: %d timeouts", doc.RAS.Timeouts))
	}
	if len(doc.Comms) > 0 {
		a.Nodes, a.Processes, a.GPUs = len(hosts), len(procs), len(gpus)
	}
}

func (c *RASComm) addState(k rasRank) {
	state := k.state()
	s := units.Entry(&c.States, func(s nccllogs.RankState) bool { return s.State == state },
		nccllogs.RankState{State: state})
	s.Ranks = append(s.Ranks, k.Rank)
}

func (c *RASComm) addCount(name string, calls int64, rank int) {
	n := units.Entry(&c.Counts, func(n nccllogs.CallCount) bool { return n.Name == name && n.Calls == calls },
		nccllogs.CallCount{Name: name, Calls: calls})
	n.Many++
	n.Ranks = append(n.Ranks, rank)
}

// judge sums up the states and counts of its ranks.
func (c *RASComm) judge() {
	units.SortBy(c.States, func(s nccllogs.RankState) int { return -len(s.Ranks) })
	slices.SortFunc(c.Counts, func(a, b nccllogs.CallCount) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Calls, a.Calls))
	})
	for i := range c.Counts[min(1, len(c.Counts)):] {
		if c.Counts[i].Name == c.Counts[i+1].Name {
			c.Errors = "MISMATCH"
		}
	}
	if c.Missing > 0 {
		c.Errors = "INCOMPLETE"
	}
	for i, s := range c.States {
		if i == 0 {
			c.Status = s.State
		}
		if strings.Contains(s.State, "error") || s.State == "ABORT" {
			c.Errors = "ERROR"
		}
	}
}
