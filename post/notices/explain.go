package notices

import (
	"reflect"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	_ "busbar/internal/notice/hangs"
	_ "busbar/internal/notice/nccllogs"   // post explain documents the notices of all areas
	_ "busbar/internal/notice/preflights" // also those that rank alone reports
	_ "busbar/internal/notice/profiles"
)

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

// Explain documents codes.
func Explain(codes ...string) (*document.Document, error) {
	d, data := &document.Document{Kind: "explain"}, explainData{}
	for _, code := range codes {
		e := notice.Find(notice.Code(code))
		if e == nil {
			return nil, unknownCode(code)
		}
		one := explain(e)
		data.Codes = append(data.Codes, one)
		d.Add(one.section())
	}
	d.Data = data
	return d, nil
}

func explain(e *notice.Entry) explained {
	return explained{
		e.Code(), e.Severity, e.Doc, notice.Text(e.Example()), notice.ToDo(e.Example()), parameters(e.Example()),
		notice.Source(e.Example()),
	}
}

// section is the documentation without its empty fields.
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
	return document.NewSection(string(e.Code), fields)
}

// List is a table of all codes, each with the beginning of its example.
func List() *document.Document {
	t := document.NewTable("code", "severity", "example")
	var data explainData
	for _, e := range notice.Entries() {
		lines := document.Wrap(notice.Message(e.Example()), 40)
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
