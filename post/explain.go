package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/usage"
)

func newExplain(stdout io.Writer) *cobra.Command {
	var format document.Format
	cmd := &cobra.Command{
		Use:     "explain [CODE]",
		GroupID: "other",
		Short:   "List the codes of all notices, or document one",
		Long: `Each warning, finding and problem has a code that never changes. Without CODE,
post explain lists all codes. With CODE, it prints what the code means, what to
do about it, and an example.`,
		Example: `  post explain
  post explain drift`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listCodes(notice.Entries()).Write(stdout, format)
			}
			e := notice.Find(notice.Code(args[0]))
			if e == nil {
				return usage.New(unknownCode(args[0]), cmd.CommandPath())
			}
			d := &document.Document{Kind: "explain", Data: explainData{[]explained{explain(e)}}}
			d.Add(explain(e).section())
			return d.Write(stdout, format)
		},
	}
	formatFlag(cmd.Flags(), &format)
	return cmd
}

func codes() (all []string) {
	for _, e := range notice.Entries() {
		all = append(all, string(e.Code()))
	}
	return all
}

// unknownCode is the error of a code that the catalogue does not have. It does not list the hundreds that exist.
func unknownCode(code string) error {
	if near := coll.Nearest(code, codes()); near != "" {
		return fmt.Errorf("unknown code %q; did you mean %q? (post explain lists all codes)", code, near)
	}
	return fmt.Errorf("unknown code %q (post explain lists all codes)", code)
}

// explainData is what the JSON of post explain has.
type explainData struct {
	Codes []explained `json:"codes"`
}

// explained is the documentation of a code.
type explained struct {
	Code       notice.Code     `json:"code"`
	Severity   notice.Severity `json:"severity"`
	Meaning    string          `json:"meaning"`
	Example    string          `json:"example"`
	Advice     string          `json:"advice"`
	Parameters []string        `json:"parameters"`
	Source     string          `json:"source"`
}

func explain(e *notice.Entry) explained {
	return explained{
		e.Code(), e.Severity, e.Meaning(), notice.Text(e.Example), notice.ToDo(e.Example), parameters(e.Example),
		notice.Source(e.Example),
	}
}

// section is the documentation without what is empty.
func (e explained) section() *document.Section {
	var fields document.Fields
	for _, f := range (document.Fields{
		{Name: "severity", Value: e.Severity.String()}, {Name: "meaning", Value: e.Meaning},
		{Name: "example", Value: e.Example}, {Name: "advice", Value: e.Advice},
		{Name: "parameters", Value: strings.Join(e.Parameters, ", ")}, {Name: "source", Value: e.Source},
	}) {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return &document.Section{Title: string(e.Code), Blocks: []document.Block{fields}}
}

// listCodes is a table of the codes, with the beginning of an example.
func listCodes(entries []*notice.Entry) *document.Document {
	t := &document.Table{Columns: []document.Column{{Name: "code"}, {Name: "severity"}, {Name: "example"}}}
	var data explainData
	for _, e := range entries {
		lines := document.Wrap(notice.Message(e.Example), 40)
		if len(lines) > 1 {
			lines[0] += " …"
		}
		t.Row(string(e.Code()), e.Severity.String(), lines[0])
		data.Codes = append(data.Codes, explain(e))
	}
	return &document.Document{
		Kind: "explain", Title: "Codes of all notices; post explain CODE documents one", Data: data,
		Blocks: []document.Block{t},
	}
}

// parameters are the names of a fact's parameters in JSON.
func parameters(f notice.Fact) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(f)) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
