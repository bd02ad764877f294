// Package notice holds what busbar reports besides values: each finding, warning and problem is a Notice with a stable
// code, a severity, a location and typed parameters. One catalogue holds the text, the advice, the source and the
// documentation of each code; no other package builds sentences about findings, and none reads them.
//
// To add a notice, add a struct with its parameters to the file of its area (curves.go, records.go, …), its type to
// Register, and a paragraph to catalogue.txt, which names the type where that is not the code without hyphens.
package notice

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/units"
)

// Code identifies a kind of notice. It never changes once released; the text may.
type Code string

// Fact is the typed parameters of a notice: a struct whose type Register knows, one type for each code.
type Fact any

// CodeOf identifies a fact: the code of its type, or its own where a type has several codes. A fact without an entry in
// the catalogue is a mistake of the program that a test finds.
func CodeOf(f Fact) Code {
	if own, is := f.(interface{ Code() Code }); is {
		return own.Code()
	}
	code, known := codes[reflect.TypeOf(f)]
	if !known {
		panic(fmt.Sprintf("notice: %T has no entry in the catalogue", f))
	}
	return code
}

// Severity is how much a notice matters.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = []string{"info", "warning", "error"}

func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("Severity(%d)", uint8(s))
}

// MarshalText returns the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts a name.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q (known: %s)", text, strings.Join(severityNames, ", "))
	}
	*s = Severity(i)
	return nil
}

// Location is what a notice is about. What is empty is not known or does not apply.
type Location struct {
	Subject string      `json:"subject,omitempty"` // a curve, an operation, a communicator
	From    units.Bytes `json:"from_bytes,omitempty"`
	To      units.Bytes `json:"to_bytes,omitempty"`
	File    string      `json:"file,omitempty"`
	Line    int         `json:"line,omitempty"`
}

// String is how the location precedes a message: "file:12", "nccl, all_reduce float32, 64 KiB to 1 MiB",
// "trace.json, rank 3".
func (l Location) String() string {
	var where []string
	if l.File != "" {
		where = append(where, l.File)
		if l.Line > 0 {
			where[0] += fmt.Sprintf(":%d", l.Line)
		}
	}
	if l.Subject != "" {
		where = append(where, l.Subject)
	}
	switch {
	case l.To > l.From:
		where = append(where, fmt.Sprintf("%v to %v", l.From, l.To))
	case l.To > 0:
		where = append(where, l.To.String())
	}
	return strings.Join(where, ", ")
}

// Notice is one thing to report.
type Notice struct {
	Severity Severity
	At       Location
	Fact     Fact
	Count    int // how many equal ones it represents; 0 and 1 are one
}

// New is a notice with the catalogue's severity.
func New(fact Fact) Notice { return Notice{Severity: entryOf(fact).Severity, Fact: fact} }

// Equal reports whether two notices differ at most in how many they represent.
func (n Notice) Equal(m Notice) bool {
	return n.Severity == m.Severity && n.At == m.At && reflect.DeepEqual(n.Fact, m.Fact)
}

// Code identifies the notice.
func (n Notice) Code() Code { return CodeOf(n.Fact) }

// Message is the sentence without its location and its full stop.
func (n Notice) Message() string { return Message(n.Fact) }

// Text is the sentence with its location.
func (n Notice) Text() string {
	if at := n.At.String(); at != "" {
		return at + ": " + n.Message()
	}
	return n.Message()
}

// Sentence is Text with its full stop. It has a capital unless a name comes first.
func (n Notice) Sentence() string {
	if n.At != (Location{}) || slices.Contains(names, entryOf(n.Fact).text[0].field) {
		return n.Text() + "."
	}
	return Sentence(n.Fact)
}

// names are the fields whose values are names that keep their spelling at the beginning of a sentence.
var names = []string{
	"Who", "Name", "Operation", "Collective", "Communicator", "Library", "Variable", "Host", "Folder", "Text",
}

// Details are the sentences that support the message.
func (n Notice) Details() []string { return Details(n.Fact) }

// Advice is what to do; "" where there is nothing to do.
func (n Notice) Advice() string { return Advice(n.Fact) }

// Message is a fact as a sentence without full stop.
func Message(f Fact) string { return entryOf(f).text.render(f) }

// Sentence is a fact as a whole sentence, without the details that Paragraph has.
func Sentence(f Fact) string {
	return units.Capital(Message(f)) + "."
}

// Text is a fact in sentences: its message, which may begin with the name of a host, and its details.
func Text(f Fact) string { return strings.Join(append([]string{Message(f) + "."}, Details(f)...), " ") }

// Paragraph is Text that begins with a capital.
func Paragraph(f Fact) string { return units.Capital(Text(f)) }

// Details are the sentences that support a fact's message, each with its full stop.
func Details(f Fact) []string {
	var all []string
	for _, t := range entryOf(f).details {
		all = append(all, t.lines(f)...)
	}
	return all
}

// Advice is what to do about a fact; "" where there is nothing to do. A fact whose advice depends on its parameters has
// a method for it; where that returns "", the catalogue's holds.
func Advice(f Fact) string {
	if own, is := f.(interface{ Advice() string }); is && own.Advice() != "" {
		return own.Advice()
	}
	return entryOf(f).advice.render(f)
}

// Source is where the rule or the advice comes from; "" where that is the program alone. A fact whose source depends
// on its parameters has a method for it.
func Source(f Fact) string {
	if own, is := f.(interface{ Source() string }); is {
		return own.Source()
	}
	return entryOf(f).Source
}

// How is how to follow the advice, in whole sentences; "" where that is all.
func How(f Fact) string { return entryOf(f).how.render(f) }

// ToDo is the advice in whole sentences.
func ToDo(f Fact) string {
	text := Advice(f)
	if text == "" {
		return ""
	}
	return strings.TrimSpace(units.Capital(text) + ". " + How(f))
}

// entryOf returns the catalogue's entry.
func entryOf(f Fact) *Entry { return byCode[CodeOf(f)] }

// wire is the JSON of a notice, as all documents have it.
type wire struct {
	Code       Code      `json:"code"`
	Severity   Severity  `json:"severity"`
	Message    string    `json:"message"`
	Location   *Location `json:"location,omitempty"`
	Parameters any       `json:"parameters"`
	Count      int       `json:"count"`
}

// MarshalJSON writes {"code":…,"severity":…,"message":…,"location":{…},"parameters":{…},"count":N}.
func (n Notice) MarshalJSON() ([]byte, error) {
	w := wire{n.Code(), n.Severity, n.Message(), &n.At, WithLists(n.Fact), max(1, n.Count)}
	if n.At == (Location{}) {
		w.Location = nil
	}
	return json.Marshal(w)
}

// WithLists is a pointer to a copy of v in which no list is nil: JSON has [], not null. It leaves v as it is.
func WithLists(v any) any {
	c := reflect.New(reflect.TypeOf(v))
	c.Elem().Set(reflect.ValueOf(v))
	fillLists(c.Elem())
	return c.Interface()
}

// fillLists makes each nil list an empty one. It copies what v shares with other values before it changes that.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			fillLists(c.Elem())
			v.Set(c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && !(strings.HasSuffix(f.Tag.Get("json"), ",omitzero") && v.Field(i).IsZero()) {
				fillLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return
		}
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

// Kept is a fact as results files keep it: its code and its parameters.
type Kept struct{ Fact }

// Code identifies the fact.
func (k Kept) Code() Code { return CodeOf(k.Fact) }

// MarshalJSON writes {"code":…,"parameters":{…}}.
func (k Kept) MarshalJSON() ([]byte, error) {
	if u, is := k.Fact.(Unknown); is {
		return json.Marshal(keptWire{u.Of, u.Parameters})
	}
	parameters, err := json.Marshal(k.Fact)
	if err != nil {
		return nil, err
	}
	if string(parameters) == "{}" {
		parameters = nil
	}
	return json.Marshal(keptWire{k.Code(), parameters})
}

// UnmarshalJSON reads what MarshalJSON writes. A code of a newer version is Unknown, and so is one with parameters that
// this version cannot read: no value of a record is lost to its notices.
func (k *Kept) UnmarshalJSON(text []byte) error {
	var w keptWire
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	k.Fact = Unknown{w.Code, w.Parameters}
	e := byCode[w.Code]
	if e == nil {
		return nil
	}
	if f, err := e.decode(w.Parameters); err == nil {
		k.Fact = f
	}
	return nil
}

type keptWire struct {
	Code       Code            `json:"code"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Alike reports whether two facts state the same of two runs. Fields tagged alike:"-" are not compared: they differ
// from run to run, such as names of hosts, lines of a log and measured times.
func Alike(a, b Fact) bool { return alike(reflect.ValueOf(a), reflect.ValueOf(b)) }

func alike(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return a.IsValid() == b.IsValid() && !a.IsValid()
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return alike(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Tag.Get("alike") != "-" && !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
