package notice_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	_ "busbar/internal/notice/hangs"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/notice/preflights"
	"busbar/internal/notice/profiles"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestMessagesShowValuesOfPointers(t *testing.T) {
	test.EqOp(t, "SIGTERM to rank 0 on a", notice.Message(notice.RunSignalled{Signal: "SIGTERM", Rank: new(0),
		Host: "a"}))
}

// Every entry is complete, and its text has each field of its fact.
func TestCatalogue(t *testing.T) {
	code := regexp.MustCompile(`^[a-z]+[0-9]*(-[a-z0-9]+)*$`)
	for _, e := range notice.Entries() {
		if !code.MatchString(string(e.Code())) || e.Doc == "" {
			t.Errorf("%s: a code is lower-case words with hyphens, and has documentation", e.Code())
		}
		used := e.Fields()
		of := reflect.TypeOf(e.Example())
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
			_, inAdvice := e.Example().(interface{ Advice() string }) // may depend on any field
			if !slices.Contains(used, f.Name) && !inAdvice && e.Code() != "unknown-notice" {
				t.Errorf("%s: no text has {%s}", e.Code(), f.Name)
			}
		}
		for _, text := range append(notice.Details(e.Example()), notice.Message(e.Example()),
			notice.Advice(e.Example()),
			notice.How(e.Example())) {
			if strings.Contains(text, "%!") || strings.ContainsAny(strings.ReplaceAll(text, "%q{RANK}", ""), "{}") ||
				strings.Contains(text, "  ") {
				t.Errorf("%s: %q", e.Code(), text)
			}
		}
		if text := notice.Message(e.Example()); text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: the message %q is empty or ends with a full stop", e.Code(), text)
		}
	}
}

// A fact that was written is read back as it was, also one of a newer version.
func TestKept(t *testing.T) {
	for _, e := range notice.Entries() {
		text, err := json.Marshal(notice.Kept{Fact: e.Example()})
		must.NoError(t, err)
		var k notice.Kept
		if err := json.Unmarshal(text, &k); err != nil || !reflect.DeepEqual(k.Fact, e.Example()) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
	const newer = `{"code":"from-the-future","parameters":{"n":1}}`
	var k notice.Kept
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
	for text, want := range map[string]notice.Fact{
		"too few samples (5): a 95 % interval of the median takes at least 6": notice.TooFewSamples{
			Samples: 5, Needed: 6,
		},
		"successive samples resemble each other: the interval may be too " +
			"narrow (100 samples, about 210 would do)": notice.Autocorrelated{Samples: 100, Needed: 210},
		"drift within the case: the last third of the samples is -7.1 % from the first": notice.Drift{Change: -0.071},
		"drift within the case: the last third of the samples is 21162 times the first": notice.Drift{Change: 21161},
		"drift within the case: the first third of the samples is 4.0 times the last":   notice.Drift{Change: -0.75},
		"two modes: 0.25 us (60 % of samples) and 0.5 us (40 %); the " +
			"median stands for one of them at most": notice.Bimodal{
			Lower: 0.25e-6, LowerShare: 0.6, Upper: 0.5e-6, UpperShare: 0.4,
		},
		"3 samples are not finite numbers and are left out of every figure": notice.SamplesNotFinite{Samples: 3},
		"timer: one clock reading (25 ns) is 12 % of what is timed": notice.TimerCost{
			Reading: 25e-9, Share: 0.12,
		},
		"timer: percentiles are not claimed, the clock's step (1000 ns) " +
			"is over a tenth of what is timed": notice.TimerResolution{Step: 1e-6},
		"clocks: the offset between hosts is known to 2.5 us, which is 20 % of what is timed": notice.ClockUncertainty{
			Uncertainty: 2.5e-6, Share: 0.2,
		},
		"events: one step of the device's clock (32 ns) is over 5 % of the 0.5 us between them": notice.EventResolution{
			Step: 32e-9, Share: 0.05, Interval: 0.5e-6,
		},
		"oversubscribed: 2 ranks share 1 core on a (bound to CPUs 0): " +
			"figures say nothing about speed": notice.Oversubscribed{
			Ranks: 2, Cores: 1, Host: "a", Why: "bound to CPUs 0",
		},
		"oversubscribed: so are 3 hosts more": notice.OversubscribedHosts{Hosts: 3},
		"oversubscribed: by far":              notice.Oversubscribed{Why: "by far"},
		"threads: a rank of Gloo has two, and vm has 2 CPUs for 2 ranks: small messages may take milliseconds; start " +
			"fewer": notice.SharedThreads{Host: "vm", CPUs: 2, Ranks: 2},
		"load: vm had a load average of 3.33 before the run; other work disturbs the figures": notice.HostLoad{
			Host: "vm", Load: 3.33,
		},
		"threads: as an earlier version put it": notice.Oversubscribed{
			Why: "as an earlier version put it",
		},
		"too small: 8 ranks share it in pieces of whole 16 bytes, and none is left": notice.TooSmall{Ranks: 8},
		"time: its 100 operations would take about 3m20s, and --time-limit leaves 1m0s": notice.TakesTooLong{
			Operations: 100, Takes: 200, Left: 60,
		},
		"time: left out to keep the run within --time-limit 5m0s": notice.TimeOver{Limit: 300},
		"memory: it takes 4 TiB of buffers a rank; rank 1 on a may have 1.5 GiB of buffers: MemAvailable leaves 8 " +
			"GiB for 4 ranks, a tenth and 32 MiB a rank kept back; backends " +
			"that are interleaved share that by 2": notice.MemoryInsufficient{
			Needed: 4 << 40,
			Limit: notice.MemoryLimit{Rank: 1, Host: "a", Bytes: 1.5 * (1 << 30), Bound: "MemAvailable",
				Free: 8 << 30, Ranks: 4, Kept: 32 << 20, Libraries: 2, Groups: 0},
		},
		"memory: rank 3 on a was refused the buffers although they should fit: no": notice.MemoryRefused{
			Rank: 3, Host: "a", Problem: "no",
		},
		"wrong data: 3 of 1024 elements; first on rank 1 on a at index " +
			"17 of bucket 2: wanted 1, found 2": notice.DataWrong{
			Wrong: 3, Elements: 1024, Of: "bucket 2",
			WrongElement: notice.WrongElement{Rank: 1, Host: "a", Index: 17, Got: "2", Want: "1"},
		},
		"an average over 512 ranks is 0 in float8_e4m3: NCCL " +
			"multiplies with 1/512, which rounds to 0": notice.AverageUnderflows{Ranks: 512, Type: "float8_e4m3"},
		"cut off after 1 round, whose figures these are":    notice.CutOff{Rounds: 1},
		"the source counts wrong elements":                  notice.SourceCountsWrong{},
		"the source marks the error as larger than allowed": notice.SourceErrorLarge{},
		"the source says Fail":                              notice.SourceReports{Text: "Fail"},
		"busbw/algbw contradicts the number of ranks: printed 93.1/53.2 " +
			"= 1.750, but 4 ranks give 1.500": notice.RanksContradicted{
			BusBW: "93.1", AlgBW: "53.2", Ratio: 1.75, Ranks: 4, Expected: 1.5,
		},
		"the collective, the only one that fits the columns and the ratio of busbw to algbw": notice.Deduced{
			What: notice.DeducedCollective, From: notice.FromColumns, Collective: "",
		},
		"the size of all_gather, one rank's share in the table, times the number of ranks": notice.Deduced{
			What: notice.DeducedSize, From: notice.FromShare, Collective: "all_gather",
		},
		"the placement, as an earlier version put it": notice.Recorded{
			Text: "the placement, as an earlier version put it",
		},
		"each operation awaited; all_reduce is torch's, in place, and of " +
			"float32 where no column names the type": notice.ScriptHabits{},
		"SIGTERM":                 notice.RunSignalled{Signal: "SIGTERM"},
		"SIGTERM to rank 0 on a":  notice.RunSignalled{Signal: "SIGTERM", Rank: new(0), Host: "a"},
		"asked to end by SIGUSR1": notice.RunSignalled{Signal: "SIGUSR1"},
		"hang: rank 1 on a is gone; NCCL's RAS says:\nx": notice.RunHung{Problem: "rank 1 on a is gone; NCCL's RAS " +
			"says:\nx"},
		"rank 3 on a (pid 7) is gone: it was killed or crashed during all_reduce (sum) (latency); see that host's " +
			"log and kernel messages (out of memory?); to go on without it leave a out (srun --exclude=a, or the " +
			"launcher's host list) and add --resume": notice.RankGone{
			PlacedRank: notice.PlacedRank{Rank: 3, Host: "a"}, PID: 7,
			During: notice.InHand{Case: "all_reduce (sum)", Phase: "latency"}, Without: "a"},
		"rank 3 on a (pid 7) is gone: it was killed or crashed while the run was in phase MPI_Init; see that host's " +
			"log and kernel messages (out of memory?)": notice.RankGone{
			PlacedRank: notice.PlacedRank{Rank: 3, Host: "a"}, PID: 7,
			During: notice.InHand{Case: "", Phase: "MPI_Init"}, Without: ""},
		"rank 3 on a crashed: no\ngoroutine 1": notice.RankCrashed{PlacedRank: notice.PlacedRank{Rank: 3, Host: "a"},
			Problem: "no", Stack: "goroutine 1"},
		"rank 3 on a: no memory": notice.RankFailed{Rank: 3, Host: "a", Problem: "no memory"},
		"NCCL has no bfloat16":   notice.NotSupported{Library: "NCCL", What: "bfloat16"},
		"an unknown warning":     notice.Recorded{Text: "an unknown warning"},
	} {
		if got := notice.FromText(text); !reflect.DeepEqual(round(got), round(want)) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// round writes a fact with its numbers to nine digits.
func round(f notice.Fact) string {
	text, _ := json.Marshal(notice.Kept{Fact: f})
	return regexp.MustCompile(`(\.\d{9})\d+`).ReplaceAllString(string(text), "$1")
}

// Codes with parameters that older files do not have are read as they were written.
func TestOlderParameters(t *testing.T) {
	for text, want := range map[string]notice.Fact{
		`{"code":"shared-gpu"}`: notice.SharedGPU{},
		`{"code":"oversubscribed","parameters":{"ranks":4,"cores":2,"host":"a",` +
			`"why":"bound to CPUs 0-1"}}`: notice.Oversubscribed{
			Ranks: 4, Cores: 2, Host: "a", Why: "bound to CPUs 0-1"},
	} {
		var k notice.Kept
		if err := json.Unmarshal([]byte(text), &k); err != nil || !reflect.DeepEqual(k.Fact, want) {
			t.Errorf("%s: %+v, %v", text, k.Fact, err)
		}
	}
}

// What is simulated has one severity, whichever command reports it.
func TestSeverityOfSimulation(t *testing.T) {
	for _, f := range []notice.Fact{notice.SimulatedRuns{}, notice.SimulatedSides{}, preflights.SimulatedGPUs{}} {
		if s := notice.New(f).Severity; s != notice.Warning {
			t.Errorf("%s is %v, want a warning", notice.CodeOf(f), s)
		}
	}
	test.StrNotContains(t, notice.Message(notice.SimulatedRuns{}), "(")
}

// A template leaves out text in brackets if a field in it is empty.
func TestOptionalParts(t *testing.T) {
	for _, c := range []struct {
		fact notice.Fact
		want string
	}{
		{notice.Oversubscribed{Ranks: 4, Cores: 1, Host: "a"}, "oversubscribed: 4 ranks share 1 core on a"},
		{notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a", Why: "quota"},
			"oversubscribed: 4 ranks share 2 cores on a (quota)"},
		{
			notice.Oversubscribed{Ranks: 4, Cores: 2, Limit: notice.CoreLimit{Quota: 2},
				CPUs: notice.RankCPUs{Ranks: 4, CPUs: 8, Binding: notice.Binding{Min: 8, Max: 8, Free: true}}},
			"oversubscribed: 4 ranks share 2 cores (cgroup quota of 2 CPUs); 4 ranks on 8 CPUs, not bound",
		},
		{notice.SharedGPU{}, "ranks share a GPU"},
		{notice.Oversubscribed{Why: "by far"}, "oversubscribed (by far)"},
		{notice.CollectiveUnknown{}, "the imported file does not name its collective"},
		{notice.CollectiveUnknown{Fits: []string{"a", "b"}},
			"the imported file does not name its collective; its columns fit a, b"},
	} {
		test.StrHasPrefix(t, c.want, notice.Message(c.fact))
	}
}

// testdata/patterns.tsv has the sentences that analysis built before there were codes, each with its code: no code
// may lose a fact that its sentences stated. A code has at least as many parameters as its sentence with most of
// them, or states the rest in its location.
func TestOldPatterns(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.tsv")
	must.NoError(t, err)
	verbs := regexp.MustCompile(`%[-+.0-9]*[a-z]`)
	for line := range strings.Lines(string(text)) {
		code, pattern, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e := notice.Find(notice.Code(code))
		if e == nil {
			t.Errorf("%s is no code: %s", code, pattern)
			continue
		}
		const location = 2 // the curve, and its sizes
		if stated, kept := len(verbs.FindAllString(pattern,
			-1)), len(reflect.VisibleFields(reflect.TypeOf(e.Example()))); stated > kept+location {
			t.Errorf("%s keeps %d parameters of %d: %s", code, kept, stated, pattern)
		}
	}
}

// A list without elements is [] in JSON, not null.
func TestEmptyListsInJSON(t *testing.T) {
	for _, f := range []notice.Fact{profiles.Straggler{Rank: "rank 1"}, nccllogs.LogDifference{}} {
		text, err := json.Marshal(notice.New(f))
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
		text, err := json.Marshal(notice.WithLists(v))
		if want := `{"Elements":[{"List":[]}],"Pointer":{"List":[]}}`; err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
		if shared.Elements[0].List != nil || shared.Pointer.List != nil {
			t.Errorf("the original is now %+v and %+v", shared.Elements, shared.Pointer)
		}
	}
}
