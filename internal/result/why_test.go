package result

import (
	"encoding/json"
	"reflect"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

// A reason is read from files of all versions: as a sentence, as a fact, and as a fact of a newer version.
func TestReadFailuresOfAllVersions(t *testing.T) {
	small := notice.TooSmall{Ranks: 4}
	for _, c := range []struct {
		line, reason string
		fact         notice.Fact
	}{
		{`{}`, "", nil},
		{`{"reason":"too small: 4 ranks share it in pieces of whole 16 bytes, and none is left"}`,
			"too small: 4 ranks share it in pieces of whole 16 bytes, and none is left", small},
		{`{"reason":"some words"}`, "some words", notice.Recorded{Text: "some words"}},
		{`{"reason":"earlier words","cause":{"code":"too-small","parameters":{"ranks":4}}}`,
			notice.Message(small), small},
		{`{"reason":"later words","cause":{"code":"from-the-future"}}`,
			"later words", notice.Unknown{Of: "from-the-future"}},
	} {
		var w Why
		must.NoError(t, json.Unmarshal([]byte(c.line), &w))
		w.adopt()
		if got, want := w.Cause.Fact, c.fact; w.Reason != c.reason || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, want %q, %v", c.line, w.Reason, got, c.reason, want)
		}
	}
	text, err := json.Marshal(Because(small))
	if want := `"cause":{"code":"too-small","parameters":{"ranks":4}}}`; err != nil || len(text) <= len(want) ||
		string(text[len(text)-len(want):]) != want {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := json.Marshal(Because(nil)); err != nil || string(text) != "{}" {
		t.Errorf("no reason: %s, %v", text, err)
	}
}
