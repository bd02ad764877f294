package notice

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMessagesShowValuesOfPointers(t *testing.T) {
	if got := Message(RunSignalled{"SIGTERM", new(0), "a"}); got != "SIGTERM to rank 0 on a" {
		t.Errorf("%q", got)
	}
}

// Every entry is complete, and its text has each field of its fact.
func TestCatalogue(t *testing.T) {
	code := regexp.MustCompile(`^[a-z]+[0-9]*(-[a-z0-9]+)*$`)
	for _, e := range Entries() {
		if !code.MatchString(string(e.Code())) || e.Doc == "" {
			t.Errorf("%s: a code is lower-case words with hyphens, and has documentation", e.Code())
		}
		used := slices.Concat(e.text.fields(), e.advice.fields(), e.how.fields())
		for _, d := range e.details {
			used = append(used, d.fields()...)
		}
		of := reflect.TypeOf(e.Example)
		for _, name := range used {
			if _, has := of.FieldByName(name); !has {
				t.Errorf("%s: its text has {%s}, its fact has no such field", e.Code(), name)
			}
		}
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous {
				continue
			}
			if f.Tag.Get("json") == "" {
				t.Errorf("%s: field %s has no name in JSON", e.Code(), f.Name)
			}
			_, inAdvice := e.Example.(interface{ Advice() string }) // may depend on any field
			if !slices.Contains(used, f.Name) && !inAdvice && e.Code() != "unknown-notice" {
				t.Errorf("%s: no text has {%s}", e.Code(), f.Name)
			}
		}
		for _, text := range append(Details(e.Example), Message(e.Example), Advice(e.Example), How(e.Example)) {
			if strings.Contains(text, "%!") || strings.ContainsAny(strings.ReplaceAll(text, "%q{RANK}", ""), "{}") || strings.Contains(text, "  ") {
				t.Errorf("%s: %q", e.Code(), text)
			}
		}
		if text := Message(e.Example); text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: the message %q is empty or ends with a full stop", e.Code(), text)
		}
	}
}

// A fact that was written is read back as it was, also one of a newer version.
func TestKept(t *testing.T) {
	for _, e := range Entries() {
		text, err := json.Marshal(Kept{e.Example})
		if err != nil {
			t.Fatal(err)
		}
		var k Kept
		if err := json.Unmarshal(text, &k); err != nil || !reflect.DeepEqual(k.Fact, e.Example) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
	const newer = `{"code":"from-the-future","parameters":{"n":1}}`
	var k Kept
	if err := json.Unmarshal([]byte(newer), &k); err != nil || k.Code() != "unknown-notice" {
		t.Fatalf("%+v, %v", k, err)
	}
	if text, err := json.Marshal(k); err != nil || string(text) != newer {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"code":"drift","parameters":[]}`), &k); err != nil ||
		k.Code() != "unknown-notice" {
		t.Errorf("parameters that are no object: %+v, %v", k, err)
	}
}

// The sentences of older files become facts with their numbers.
func TestFromText(t *testing.T) {
	for text, want := range map[string]Fact{
		"too few samples (5): a 95 % interval of the median takes at least 6":                                               TooFewSamples{5, 6},
		"successive samples resemble each other: the interval may be too narrow (100 samples, about 210 would do)":          Autocorrelated{100, 210},
		"drift within the case: the last third of the samples is -7.1 % from the first":                                     Drift{-0.071},
		"drift within the case: the last third of the samples is 21162 times the first":                                     Drift{21161},
		"drift within the case: the first third of the samples is 4.0 times the last":                                       Drift{-0.75},
		"two modes: 0.25 us (60 % of samples) and 0.5 us (40 %); the median stands for one of them at most":                 Bimodal{0.25e-6, 0.6, 0.5e-6, 0.4},
		"3 samples are not finite numbers and are left out of every figure":                                                 SamplesNotFinite{3},
		"timer: one clock reading (25 ns) is 12 % of what is timed":                                                         TimerCost{25e-9, 0.12},
		"timer: percentiles are not claimed, the clock's step (1000 ns) is over a tenth of what is timed":                   TimerResolution{1e-6},
		"clocks: the offset between hosts is known to 2.5 us, which is 20 % of what is timed":                               ClockUncertainty{2.5e-6, 0.2},
		"events: one step of the device's clock (32 ns) is over 5 % of the 0.5 us between them":                             EventResolution{32e-9, 0.05, 0.5e-6},
		"oversubscribed: 2 ranks share 1 core on a (bound to CPUs 0): figures say nothing about speed":                      Oversubscribed{Ranks: 2, Cores: 1, Host: "a", Why: "bound to CPUs 0"},
		"oversubscribed: so are 3 hosts more":                                                                               OversubscribedHosts{3},
		"oversubscribed: by far":                                                                                            Oversubscribed{Why: "by far"},
		"threads: a rank of Gloo has two, and vm has 2 CPUs for 2 ranks: small messages may take milliseconds; start fewer": SharedThreads{"vm", 2, 2},
		"load: vm had a load average of 3.33 before the run; other work disturbs the figures":                               HostLoad{"vm", 3.33},
		"threads: as an earlier version put it":                                                                             Oversubscribed{Why: "as an earlier version put it"},
		"too small: 8 ranks share it in pieces of whole 16 bytes, and none is left":                                         TooSmall{8},
		"time: its 100 operations would take about 3m20s, and --time-limit leaves 1m0s":                                     TakesTooLong{100, 200, 60},
		"time: left out to keep the run within --time-limit 5m0s":                                                           TimeOver{300},
		"memory: it takes 4 TiB of buffers a rank; rank 1 on a may have 1.5 GiB of buffers: MemAvailable leaves 8 GiB for 4 ranks, a tenth and 32 MiB a rank kept back; backends that are interleaved share that by 2": MemoryInsufficient{4 << 40, MemoryLimit{1, "a", 1.5 * (1 << 30), "MemAvailable", 8 << 30, 4, 32 << 20, 2, 0}},
		"memory: rank 3 on a was refused the buffers although they should fit: no":                        MemoryRefused{3, "a", "no"},
		"wrong data: 3 of 1024 elements; first on rank 1 on a at index 17 of bucket 2: wanted 1, found 2": DataWrong{3, 1024, "bucket 2", WrongElement{1, "a", 17, "2", "1"}},
		"an average over 512 ranks is 0 in float8_e4m3: NCCL multiplies with 1/512, which rounds to 0":    AverageUnderflows{512, "float8_e4m3"},
		"cut off after 1 round, whose figures these are":                                                  CutOff{1},
		"the source counts wrong elements":                                                                SourceCountsWrong{},
		"the source marks the error as larger than allowed":                                               SourceErrorLarge{},
		"the source says Fail": SourceReports{"Fail"},
		"busbw/algbw contradicts the number of ranks: printed 93.1/53.2 = 1.750, but 4 ranks give 1.500":         RanksContradicted{"93.1", "53.2", 1.75, 4, 1.5},
		"the collective, the only one that fits the columns and the ratio of busbw to algbw":                     Deduced{DeducedCollective, FromColumns, ""},
		"the size of all_gather, one rank's share in the table, times the number of ranks":                       Deduced{DeducedSize, FromShare, "all_gather"},
		"the placement, as an earlier version put it":                                                            Recorded{"the placement, as an earlier version put it"},
		"each operation awaited; all_reduce is torch's, in place, and of float32 where no column names the type": ScriptHabits{},
		"SIGTERM":                 RunSignalled{Signal: "SIGTERM"},
		"SIGTERM to rank 0 on a":  RunSignalled{"SIGTERM", new(0), "a"},
		"asked to end by SIGUSR1": RunSignalled{Signal: "SIGUSR1"},
		"hang: rank 1 on a is gone; NCCL's RAS says:\nx": RunHung{Problem: "rank 1 on a is gone; NCCL's RAS says:\nx"},
		"rank 3 on a (pid 7) is gone: it was killed or crashed during all_reduce (sum) (latency); see that host's log and kernel messages (out of memory?); to go on without it leave a out (srun --exclude=a, or the launcher's host list) and add --resume": RankGone{
			PlacedRank{3, "a"}, 7, InHand{"all_reduce (sum)", "latency"}, "a"},
		"rank 3 on a (pid 7) is gone: it was killed or crashed while the run was in phase MPI_Init; see that host's log and kernel messages (out of memory?)": RankGone{
			PlacedRank{3, "a"}, 7, InHand{"", "MPI_Init"}, ""},
		"rank 3 on a crashed: no\ngoroutine 1": RankCrashed{PlacedRank{3, "a"}, "no", "goroutine 1"},
		"rank 3 on a: no memory":               RankFailed{3, "a", "no memory"},
		"NCCL has no bfloat16":                 NotSupported{"NCCL", "bfloat16"},
		"an unknown warning":                   Recorded{"an unknown warning"},
	} {
		if got := FromText(text); !reflect.DeepEqual(round(got), round(want)) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// round writes a fact with its numbers to nine digits.
func round(f Fact) string {
	text, _ := json.Marshal(Kept{f})
	return regexp.MustCompile(`(\.\d{9})\d+`).ReplaceAllString(string(text), "$1")
}

// Codes with parameters that older files do not have are read as they were written.
func TestOlderParameters(t *testing.T) {
	for text, want := range map[string]Fact{
		`{"code":"shared-gpu"}`: SharedGPU{},
		`{"code":"oversubscribed","parameters":{"ranks":4,"cores":2,"host":"a","why":"bound to CPUs 0-1"}}`: Oversubscribed{
			Ranks: 4, Cores: 2, Host: "a", Why: "bound to CPUs 0-1"},
	} {
		var k Kept
		if err := json.Unmarshal([]byte(text), &k); err != nil || !reflect.DeepEqual(k.Fact, want) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
}

// What is simulated has one severity, whichever command reports it.
func TestSeverityOfSimulation(t *testing.T) {
	for _, f := range []Fact{
		SimulatedRuns{}, SimulatedSides{}, SimulatedGPUs{},
	} {
		if s := New(f).Severity; s != Warning {
			t.Errorf("%s is %v, want a warning", f.Code(), s)
		}
	}
	if got := Message(SimulatedRuns{}); strings.Contains(got, "(") {
		t.Errorf("%q names runs", got)
	}
}

// A template leaves out text in brackets if a field in it is empty.
func TestOptionalParts(t *testing.T) {
	for _, c := range []struct {
		fact Fact
		want string
	}{
		{Oversubscribed{Ranks: 4, Cores: 1, Host: "a"}, "oversubscribed: 4 ranks share 1 core on a"},
		{Oversubscribed{Ranks: 4, Cores: 2, Host: "a", Why: "quota"}, "oversubscribed: 4 ranks share 2 cores on a (quota)"},
		{
			Oversubscribed{Ranks: 4, Cores: 2, Limit: CoreLimit{Quota: 2}, CPUs: RankCPUs{4, 8, Binding{8, 8, true}}},
			"oversubscribed: 4 ranks share 2 cores (cgroup quota of 2 CPUs); 4 ranks on 8 CPUs, not bound",
		},
		{SharedGPU{}, "ranks share a GPU"},
		{Oversubscribed{Why: "by far"}, "oversubscribed (by far)"},
		{CollectiveUnknown{}, "the imported file does not name its collective"},
		{CollectiveUnknown{[]string{"a", "b"}}, "the imported file does not name its collective; its columns fit a, b"},
	} {
		if got := Message(c.fact); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// testdata/patterns.tsv has the sentences that analysis built before there were codes, each with its code: no code may lose
// a fact that its sentences stated. A code has at least as many parameters as its sentence with most of them, or states
// the rest in its location.
func TestOldPatterns(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.tsv")
	if err != nil {
		t.Fatal(err)
	}
	verbs := regexp.MustCompile(`%[-+.0-9]*[a-z]`)
	for line := range strings.Lines(string(text)) {
		code, pattern, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e := Find(Code(code))
		if e == nil {
			t.Errorf("%s is no code: %s", code, pattern)
			continue
		}
		const location = 2 // the curve, and its sizes
		if stated, kept := len(verbs.FindAllString(pattern, -1)), len(reflect.VisibleFields(reflect.TypeOf(e.Example))); stated > kept+location {
			t.Errorf("%s keeps %d parameters of %d: %s", code, kept, stated, pattern)
		}
	}
}

// A list without elements is [] in JSON, not null.
func TestEmptyListsInJSON(t *testing.T) {
	for _, f := range []Fact{Straggler{Rank: "rank 1"}, LogDifference{}} {
		text, err := json.Marshal(New(f))
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s, %v, want no null", text, err)
		}
	}
}

// JSON with empty lists leaves the value as it is, also where that shares memory with others.
func TestWithListsKeepsOriginal(t *testing.T) {
	type values struct{ List []string }
	type data struct {
		Elements []values
		Pointer  *values
	}
	shared := data{[]values{{}}, &values{}}
	for _, v := range []any{shared, &shared} {
		text, err := json.Marshal(WithLists(v))
		if want := `{"Elements":[{"List":[]}],"Pointer":{"List":[]}}`; err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		if shared.Elements[0].List != nil || shared.Pointer.List != nil {
			t.Errorf("the original is now %+v and %+v", shared.Elements, shared.Pointer)
		}
	}
}

// Each detail is a whole sentence, also that of elements that are left out.
func TestLongListEndsWithSentence(t *testing.T) {
	f := RASErrors{[]string{"a", "b", "c", "d", "e", "f"}}
	if got := Text(f); !strings.HasSuffix(got, "d. And 2 more.") {
		t.Errorf("%q, want a sentence at its end", got)
	}
}

// Each vendor's advice names its own tools: no message's advice for AMD names one of NVIDIA's.
func TestAdviceOfMessagesByVendor(t *testing.T) {
	nvidia := regexp.MustCompile(`nvidia-(smi|peermem)|--gpus all`)
	for _, c := range causesOfMessages {
		nv, amd := LibraryMessage{Cause: c.code}.Advice(), LibraryMessage{Cause: c.code, Vendor: AMD}.Advice()
		switch {
		case nvidia.MatchString(amd):
			t.Errorf("%s for AMD: %s", c.code, amd)
		case nvidia.MatchString(nv) == (nv == amd):
			t.Errorf("%s: %q for NVIDIA, %q for AMD", c.code, nv, amd)
		}
	}
}
