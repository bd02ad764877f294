package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// dialect are turns that docs/glossary.md has plain words for.
	dialect = regexp.MustCompile(`(?i)\b(?:(?:says?|said|tells?|told)|(?:to|can|could|cannot)\s+be\s+had|wants?|` +
		`there\s+(?:is|are)\s+none|stands?|no\s+word|resembles?\s+each\s+other|goes\s+over\s+into|made\s+for|` +
		`taken\s+for|had\s+better|least|of\s+(?:these|those|which)\s+(?:no|none|nothing)|nobody|by\s+what|` +
		`what\s+is\s+(?:left|behind|there))\b`)
	// plain is what they do not apply to: two terms, a value of steps.csv, and parameters of notices.
	plain = regexp.MustCompile(`(?i)\b(?:at\s+least|least\s+squares|least\s+median)\b|\{\w+|\*\*parameters\*\*: .*`)
)

// A text is a string, a comment or a page, from a line of a file on.
type text struct {
	file string
	line int
	text string
}

// turns returns the turns of a text as FILE:LINE: "TURN".
func (x text) turns() []string {
	var found []string
	words := plain.ReplaceAllStringFunc(x.text, func(s string) string {
		return strings.Repeat("\n", strings.Count(s, "\n"))
	})
	for _, at := range dialect.FindAllStringIndex(words, -1) {
		line := x.line + strings.Count(words[:at[0]], "\n")
		found = append(found, x.file+":"+strconv.Itoa(line)+": "+strconv.Quote(words[at[0]:at[1]]))
	}
	return found
}

// goTexts returns the comments of a Go file, and its strings that have a blank. Patterns are no text that users see.
func goTexts(name, source string) (texts, comments []text, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	at := func(n ast.Node, s string) text { return text{name, set.Position(n.Pos()).Line, s} }
	for _, c := range file.Comments {
		comments = append(comments, at(c, c.Text()))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "MustCompile" {
				return false
			}
		case *ast.Field:
			return n.Tag == nil
		case *ast.BasicLit:
			s, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil || !strings.Contains(s, " ") {
				return true
			}
			if n.Value[0] == '"' {
				s = strings.ReplaceAll(s, "\n", " ") // it is one line of the file
			}
			texts = append(texts, at(n, s))
		}
		return true
	})
	return texts, comments, nil
}

// TestLanguage: strings of the programs and generated pages have none of the turns; comments and pages written by hand
// have at most one in 1,000 words.
func TestLanguage(t *testing.T) {
	texts, comments := sources(t)
	var written []text
	for _, page := range pages(t) {
		x := text{page, 1, read(t, page)}
		if strings.HasPrefix(page, "docs/reference/") {
			texts = append(texts, x)
		} else {
			written = append(written, x)
		}
	}
	rare(t, "strings and generated pages", texts, 0)
	rare(t, "comments", comments, 0.001)
	rare(t, "pages", written, 0.001)
}

// rare reports the turns of texts if more than a share of their words is one.
func rare(t *testing.T, what string, texts []text, share float64) {
	t.Helper()
	words := 0
	var found []string
	for _, x := range texts {
		words += len(strings.Fields(x.text))
		found = append(found, x.turns()...)
	}
	if allowed := int(share * float64(words)); len(found) > allowed {
		t.Errorf("%s: %d turns in %d words, at most %d allowed; docs/glossary.md has the words to use:\n%s",
			what, len(found), words, allowed, strings.Join(found, "\n"))
	}
}

// sources returns the strings of the programs, and the comments of programs and tests.
func sources(t *testing.T) (texts, comments []text) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "dist") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		name, _ = filepath.Rel(root, path)
		s, c, err := goTexts(name, read(t, name))
		if !strings.HasSuffix(name, "_test.go") && name != "internal/notice/older.go" { // reads older sentences
			texts = append(texts, s...)
		}
		comments = append(comments, c...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts, comments
}

func TestTurns(t *testing.T) {
	source := "// Package p says\n// at\n// least two.\npackage p\n\n" +
		"var a = regexp.MustCompile(`it says`)\n\n" +
		"const b, c = \"a page\\nof nobody\", `at least {Least}`\n\n" +
		"type d struct {\n\te int `json:\"want f\"`\n}\n"
	texts, comments, err := goTexts("p.go", source)
	var got []string
	for _, x := range append(comments, texts...) {
		got = append(got, x.turns()...)
	}
	if want := []string{`p.go:1: "says"`, `p.go:8: "nobody"`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, got %q, want %q", err, got, want)
	}
}
