package analysis

import (
	_ "embed"
	"strings"

	"gopkg.in/yaml.v3"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// tip is an entry of the catalogue of hints; hints.yaml describes the fields.
type tip struct {
	Name        string
	Kinds       []Kind
	Backends    []string
	Library     string
	Collectives []coll.Collective
	Nodes       string // oneNode, severalNodes; "" for any
	Min, Max    int64

	Tip                      notice.Tip
	Variable                 string
	Values                   []string
	With                     string
	NoSweep, Untold, Reduces bool
}

const oneNode, severalNodes = "one node", "several nodes"

// catalogue are all hints, the likeliest first.
var catalogue = readHints(hintsYAML)

//go:embed hints.yaml
var hintsYAML string

func readHints(text string) []tip {
	var all struct {
		Sets []any // what tips share
		Tips []tip
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		panic(err)
	}
	return all.Tips
}
