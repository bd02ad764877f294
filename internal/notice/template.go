package notice

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/units"
)

// template is a text with the fields of a struct in braces: "{Rank}". "{Points point}" is a number with its noun.
// "{Warned?one text|another}" is the one unless the field is empty: zero, "", or an empty list. Text in brackets is
// left out if one of its fields is empty. A detail that is "{Ranks...}" alone is a sentence for each of the list.
type template []part

// part is one piece of a template: a text, a field, or text in brackets.
type part struct {
	text     string
	field    string
	noun     string
	choice   []string // of texts: if the field is not empty, and if it is
	each     bool
	optional template
}

// parse panics on a text that is no template: all of them are part of the program, and a test parses them.
func parse(text string) template {
	t, rest := parseUntil(lineBreak.ReplaceAllString(text, " "), false)
	if rest != "" {
		panic("notice: ] without [ in " + text)
	}
	return t
}

// lineBreak is where a long text goes on in the next line of the source.
var lineBreak = regexp.MustCompile(`\n\t*`)

func parseUntil(text string, inside bool) (t template, rest string) {
	for text != "" {
		i := strings.IndexAny(text, "{[]")
		if i < 0 {
			break
		}
		if i > 0 {
			t = append(t, part{text: text[:i]})
		}
		c := text[i]
		text = text[i+1:]
		switch c {
		case '{':
			name, after, closed := strings.Cut(text, "}")
			if !closed {
				panic("notice: { without } before " + text)
			}
			name, texts, chosen := strings.Cut(name, "?")
			if chosen {
				t, text = append(t, part{field: name, choice: strings.Split(texts+"|", "|")}), after
				continue
			}
			field, noun, _ := strings.Cut(name, " ")
			field, each := strings.CutSuffix(field, "...")
			t, text = append(t, part{field: field, noun: noun, each: each}), after
		case '[':
			var optional template
			optional, text = parseUntil(text, true)
			t = append(t, part{optional: optional})
		case ']':
			if !inside {
				return t, "]" + text
			}
			return t, text
		}
	}
	if inside {
		panic("notice: [ without ]")
	}
	if text != "" {
		t = append(t, part{text: text})
	}
	return t, ""
}

// fields are the names of all fields in a template.
func (t template) fields() (names []string) {
	for _, p := range t {
		if p.field != "" {
			names = append(names, p.field)
		}
		names = append(names, p.optional.fields()...)
	}
	return names
}

func (t template) render(f Fact) string {
	return t.renderRange(f, f)
}

// renderRange writes "LO to HI" where the values of two facts differ.
func (t template) renderRange(lo, hi Fact) string {
	var b strings.Builder
	t.write(&b, reflect.ValueOf(lo), reflect.ValueOf(hi))
	return b.String()
}

// mostLines is how many elements of a list have a sentence of their own.
const mostLines = 4

// lines are a template as sentences, of which empty ones are left out.
func (t template) lines(f Fact) (all []string) {
	if len(t) != 1 || !t[0].each {
		if line := t.render(f); line != "" {
			all = append(all, line)
		}
		return all
	}
	list := reflect.ValueOf(f).FieldByName(t[0].field)
	for i := range min(list.Len(), mostLines) {
		all = append(all, Word(list.Index(i).Interface())+".")
	}
	if n := list.Len() - mostLines; n > 0 {
		all = append(all, fmt.Sprintf("And %d more.", n))
	}
	return all
}

func (t template) write(b *strings.Builder, lo, hi reflect.Value) {
	for _, p := range t {
		switch {
		case p.optional != nil:
			if !p.optional.lacks(hi) {
				p.optional.write(b, lo, hi)
			}
		case p.choice != nil && empty(hi.FieldByName(p.field)):
			b.WriteString(p.choice[1])
		case p.choice != nil:
			b.WriteString(p.choice[0])
		case p.field != "":
			from, to := lo.FieldByName(p.field), hi.FieldByName(p.field)
			text := Word(to.Interface())
			if first := Word(from.Interface()); first != text {
				b.WriteString(first + " to ")
			}
			if p.noun != "" {
				text = units.Count(int(to.Int()), p.noun)
			}
			b.WriteString(text)
		default:
			b.WriteString(p.text)
		}
	}
}

// lacks reports whether a field of the template is empty; fields of brackets inside do not count.
func (t template) lacks(of reflect.Value) bool {
	return slices.ContainsFunc(t, func(p part) bool {
		return p.field != "" && empty(of.FieldByName(p.field))
	})
}

func empty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

// Word writes a value: what knows how to write itself does, lists have commas.
func Word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	case float64:
		return fmt.Sprintf("%.4g", v)
	}
	list := reflect.ValueOf(v)
	if list.Kind() == reflect.Pointer {
		return Word(list.Elem().Interface())
	}
	if list.Kind() != reflect.Slice {
		return fmt.Sprint(v) // numbers, and words of their own type
	}
	words := make([]string, list.Len())
	for i := range words {
		words[i] = Word(list.Index(i).Interface())
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, ", ") }) {
		return strings.Join(words, "; ")
	}
	return units.Some(words)
}
