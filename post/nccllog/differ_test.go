package nccllog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"

	"github.com/shoenig/test"
)

// A log equals itself and one of another day: other pids, pointers, commIds and ports.
func TestNoDifferences(t *testing.T) {
	other := strings.NewReplacer(":10", ":77", ":20", ":88", "0x5", "0x9", "0xabc", "0xdef", "total 0.67",
		"total 0.71").Replace(wholeLog())
	c := Compare(read(t, wholeLog()), read(t, other))
	if len(c.Effects)+len(c.Causes)+len(c.Others)+len(c.OnlyA)+len(c.OnlyB)+len(c.doubts) > 0 {
		t.Errorf("%+v", c)
	}
	if !slices.Equal(codesOf(c.Headlines), []string{"logs-alike"}) || len(c.Same) < 6 {
		t.Errorf("%v, the same: %q", c.Headlines, c.Same)
	}
}

// TestCausesOfDifferences compares a whole log with a changed one: the main differences, and which causes each has.
func TestCausesOfDifferences(t *testing.T) {
	set := func(name, value string) string {
		return fmt.Sprintf("n1:100:200 [0] NCCL INFO %s set by environment to %s\n", name, value)
	}
	whole := wholeLog()
	fewer := strings.NewReplacer("8 coll channels", "2 coll channels", "={0..7}", "={0..1}").Replace(whole)
	slow := strings.ReplaceAll(whole, "proto SIMPLE", "proto LL")
	socket := strings.NewReplacer("Using network IB", "Using network Socket", "8 coll channels", "2 coll channels",
		"proto SIMPLE", "proto LL").Replace(whole)
	for what, c := range map[string]struct {
		a, b string
		want []string
	}{
		"one setting": {whole, fewer + set("NCCL_TOPO_FILE", "/x.xml"),
			[]string{"collective-channels: NCCL_TOPO_FILE", "choice: NCCL_TOPO_FILE again"}},
		"a setting of A alone": {whole + set("NCCL_MAX_CTAS", "32"), fewer,
			[]string{"collective-channels: NCCL_MAX_CTAS", "choice: NCCL_MAX_CTAS again"}},
		"two settings": {whole, fewer + set("NCCL_MAX_NCHANNELS", "2") + set("NCCL_TOPO_FILE", "/x.xml"),
			[]string{"collective-channels: NCCL_TOPO_FILE NCCL_MAX_NCHANNELS",
				"choice: NCCL_TOPO_FILE NCCL_MAX_NCHANNELS again"}},
		"a setting that cannot do it": {whole, fewer + set("NCCL_IB_TC", "106"),
			[]string{"collective-channels:", "choice:"}},
		"a version": {whole, strings.ReplaceAll(fewer, "2.27.7", "2.26.2"),
			[]string{"collective-channels: library", "choice: library again"}},
		"another world": {whole, strings.ReplaceAll(fewer, "nNodes 2 localRanks 2", "nNodes 1 localRanks 4"),
			[]string{"collective-channels: world", "choice: world again", "worlds-differ"}},
		"no tuner": {whole + "n1:100:200 [0] NCCL INFO TUNER/Plugin: Using tuner plugin old_v4\n", slow,
			[]string{"choice: tuner"}},
		"of some effects alone": {whole, socket + set("NCCL_IB_HCA", "mlx5_0"),
			[]string{"network: NCCL_IB_HCA", "collective-channels: NCCL_IB_HCA again", "choice:"}},
		"without an effect": {whole, whole + set("NCCL_IB_TC", "106"), []string{"logs-alike"}},
		"no known setting":  {whole, whole + set("NCCL_FOO", "1"), []string{"logs-alike"}},
	} {
		var got []string
		for _, h := range Compare(read(t, c.a), read(t, c.b)).Headlines {
			d, is := h.Fact.(nccllogs.LogDifference)
			if !is {
				got = append(got, string(h.Code()))
				continue
			}
			text := string(d.What.Kind) + ":"
			for _, cause := range d.Causes.All {
				text += " " + cmp.Or(string(cause.What.Variable), string(cause.What.Kind))
			}
			if d.Causes.Before {
				text += " again"
			}
			got = append(got, text)
		}
		test.SliceEqOp(t, c.want, got, test.Sprint(what))
	}
}

// A difference and its cause are facts with parameters.
func TestDifferenceParameters(t *testing.T) {
	b := strings.ReplaceAll(wholeLog(), "proto SIMPLE", "proto LL") +
		"n1:100:200 [0] NCCL INFO NCCL_PROTO set by environment to LL\n"
	c := Compare(read(t, wholeLog()), read(t, b))
	way := func(protocol string) nccllogs.LogValue {
		return nccllogs.LogValue{Ways: []nccllogs.LogWay{{Algorithm: "RING", Protocol: protocol, Channels: 8}}}
	}
	want := nccllogs.LogDifference{
		What: nccllogs.LogAspect{
			Kind:       nccllogs.LogChoice,
			Collective: "AllReduce",
			From:       32 << 20,
			To:         32 << 20,
			Sizes:      1,
		},
		A: way("SIMPLE"), B: way("LL"),
		Causes: nccllogs.LogCauses{All: []nccllogs.LogCause{{
			What: nccllogs.LogAspect{Kind: nccllogs.LogVariable, Variable: "NCCL_PROTO"},
			B:    nccllogs.LogValue{Values: []string{"LL"}}, Effect: "NCCL_PROTO",
		}}},
	}
	if len(c.Headlines) != 1 || !reflect.DeepEqual(c.Headlines[0].Fact, want) {
		t.Errorf("%+v, want %+v", c.Headlines, want)
	}
	text, err := json.Marshal(c.Effects)
	if err != nil || !strings.Contains(string(text), `"what":"AllReduce of 32 MiB","a":"RING/SIMPLE on 8 channels"`) ||
		!strings.Contains(string(text), `"aspect":{"kind":"choice","collective":"AllReduce","from_bytes":33554432,`) {
		t.Errorf("%s, %v", text, err)
	}
}

// Findings of one code are compared by their parameters: here, the value of a setting and the text of a message.
func TestFindingsOfOneCode(t *testing.T) {
	log := func(value, text string) *Log {
		return read(t, wholeLog()+"n1:100:200 [0] NCCL INFO NCCL_BUFFSIZE set by environment to "+value+"\n"+
			"\nn1:100:200 [0] a.cc:1 NCCL WARN "+text+"\n")
	}
	c := Compare(log("1024", "odd thing 17"), log("2048", "other thing 17"))
	for side, all := range map[string][]notice.Notice{"1024": c.OnlyA, "2048": c.OnlyB} {
		if len(all) != 2 || all[0].Code() != "unexplained-message" {
			t.Fatalf("%+v", all)
		}
		if f, _ := all[1].Fact.(nccllogs.SettingAffectsSpeed); f.Variable != "NCCL_BUFFSIZE" || f.Value != side {
			t.Errorf("%+v", all)
		}
	}
	if c = Compare(log("1024", "odd thing 17"), log("1024", "odd thing 23")); len(c.OnlyA)+len(c.OnlyB) > 0 {
		t.Errorf("%v, %v", c.OnlyA, c.OnlyB)
	}
}

// Two public logs of one machine; one had a wrong topology file.
func TestHealthyAgainstCrippled(t *testing.T) {
	healthy, crippled := example(t, "timez-zx_nccl-tests_nccl.log"), example(t, "timez-zx_nccl-tests_nccl-fault.log")
	c := Compare(healthy, crippled)
	if len(c.Causes) != 1 || len(c.Others) != 0 || len(c.OnlyA) != 0 || len(c.OnlyB) != 2 {
		t.Errorf("causes %v, others %v, findings %v, %v", c.Causes, c.Others, c.OnlyA, c.OnlyB)
	}
	all := fmt.Sprint(*c)
	for _, pid := range []string{"64904", "65704", "0x"} {
		test.StrNotContains(t, all, pid)
	}
}

// What is found in public logs, by eye.
func TestFindingsOfPublicLogs(t *testing.T) {
	for file, want := range map[string][]notice.Code{
		"timez-zx_nccl-tests_nccl.log":                           nil,
		"timez-zx_nccl-tests_nccl-fault.log":                     {"few-channels", "topology-from-file"},
		"aws-samples_aws-efa-eks_p4d_2node.log":                  nil,
		"eunomia_nccl-eBPF_p3-allgather-reducescatter-sweep.log": nil,
		"NVIDIA_nccl_docs_logging_2.30_excerpts.log": {
			"no-usable-network", "init-unfinished", "host-memory-between-gpus", "network-within-host",
			"setting-affects-speed",
		},
	} {
		var got []notice.Code
		for _, f := range example(t, file).Findings() {
			got = append(got, f.Code())
		}
		test.SliceEqOp(t, want, got, test.Sprint(file))
	}
}
