package campaign

import (
	"os"
	"strings"
	"testing"
)

func TestManualListsKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/campaigns.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]string{planKeys, levelKeys, jobKeys} {
		for _, key := range keys {
			if !strings.Contains(string(text), "\n| `"+key+"` |") {
				t.Errorf("docs/campaigns.md has no row for %s", key)
			}
		}
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if p := mustParse(t, example); len(p.All()) != 5*4*6 {
		t.Errorf("the manual's plan has %d launches", len(p.All()))
	}
}

func TestExampleParses(t *testing.T) {
	p, err := Load("../../slurm/campaign.yaml")
	if err != nil || len(p.All()) != 5*2*6 {
		t.Errorf("%v: %+v", err, p)
	}
}
