package nccllogs

import (
	"regexp"
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// TestLikelyCauses has the sentence of each number of causes, and of who has a setting.
func TestLikelyCauses(t *testing.T) {
	cause := func(a, b string) LogCause {
		value := func(s string) (v LogValue) {
			if s != "" {
				v.Values = []string{s}
			}
			return v
		}
		return LogCause{LogAspect{Kind: LogVariable, Variable: "NCCL_IB_HCA"}, value(a), value(b), "NCCL_IB_HCA"}
	}
	const does = ", and it selects the NICs"
	onlyA := "NCCL_IB_HCA is set only in A (x)" + does
	for want, c := range map[string]LogCauses{
		"Nothing in the logs explains it.": {},
		"The same may explain it.": {All: []LogCause{cause("x", "y")},
			Before: true},
		"The most likely cause: " + onlyA + ".": {All: []LogCause{cause("x", "")}},
		"Likely causes: " + onlyA + "; " + onlyA +
			".": {All: []LogCause{cause("x", ""), cause("x", "")}},
		"The most likely cause: NCCL_IB_HCA is set only in B (y)" + does + ".": {All: []LogCause{cause("", "y")}},
		"The most likely cause: NCCL_IB_HCA is x in A and y in B" + does + ".": {All: []LogCause{cause("x", "y")}},
		"Likely causes: " + onlyA + "; " + onlyA + "; " + onlyA + "; and 1 more.": {
			All: []LogCause{cause("x", ""), cause("x", ""), cause("x", ""), cause("x", "")}},
		"The most likely cause: library differs (none in A, NCCL 2.27.7 in B).": {
			All: []LogCause{{What: LogAspect{Kind: LogLibrary},
				B: LogValue{Libraries: []Build{{Library: "NCCL 2.27.7"}}}}}},
	} {
		test.EqOp(t, want, c.String())
	}
}

// Each vendor's advice names its own tools: no message's advice for AMD names one of NVIDIA's.
func TestAdviceOfMessagesByVendor(t *testing.T) {
	nvidia := regexp.MustCompile(`nvidia-(smi|peermem)|--gpus all`)
	causes := 0
	for _, e := range notice.Entries() {
		m, is := e.Example().(LibraryMessage)
		if !is {
			continue
		}
		causes++
		code, nv := m.Cause, notice.Advice(LibraryMessage{Cause: m.Cause})
		amd := notice.Advice(LibraryMessage{Cause: m.Cause, Vendor: AMD})
		switch {
		case strings.ContainsAny(nv+amd, "{}"):
			t.Errorf("%s: a name is unknown in %q, %q", code, nv, amd)
		case nvidia.MatchString(amd):
			t.Errorf("%s for AMD: %s", code, amd)
		case nvidia.MatchString(nv) == (nv == amd):
			t.Errorf("%s: %q for NVIDIA, %q for AMD", code, nv, amd)
		}
	}
	test.Positive(t, causes)
}

// Each detail is a whole sentence, also that of elements that are left out.
func TestLongListEndsWithSentence(t *testing.T) {
	f := RASErrors{[]string{"a", "b", "c", "d", "e", "f"}}
	test.StrHasSuffix(t, "d. And 2 more.", notice.Text(f))
}
