package timeline

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// function is a parsed kernel name, without additions of compilers and profilers.
type function struct {
	scope string // namespaces, "::" between them; "" without a namespace
	name  string
}

// String returns the function without its types and parameters, which can be pages.
func (f function) String() string { return strings.TrimPrefix(f.scope+"::"+f.name, "::") }

// unnamedWords replaces the various names of unnamed namespaces by "(unnamed)", in characters that declarator keeps.
var unnamedWords = strings.NewReplacer("(anonymous namespace)", "{unnamed}", "<unnamed>", "{unnamed}")

// functionOf parses a kernel's name: demangled with a return type and parameters, shortened to the bare name, or
// mangled.
func functionOf(kernel string) function {
	s := strings.TrimSuffix(strings.TrimSpace(kernel), ".kd") // AMD's name of a kernel descriptor
	s = strings.ReplaceAll(declarator(demangle.Filter(s)), "{unnamed}", "(unnamed)")
	if i := strings.LastIndex(s, "::"); i >= 0 {
		return function{scope: s[:i], name: s[i+2:]}
	}
	return function{name: s}
}

// declarator returns the qualified name of a declaration, without type, template arguments and parameters.
func declarator(s string) string {
	s, _, _ = strings.Cut(unnamedWords.Replace(s), " [") // compiler suffixes: [clone .kd]
	var kept strings.Builder
	depth, parens := 0, 0 // depth of <, and of ( within them, where > may be a comparison
	for _, c := range s {
		switch {
		case depth > 0 && c == '(':
			parens++
		case depth > 0 && c == ')':
			parens--
		case parens > 0:
		case c == '<':
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth > 0:
		case c == '(': // parameters
			return kept.String()
		case c == ' ':
			kept.Reset() // the text before was a type: void, static void
		default:
			kept.WriteRune(c)
		}
	}
	return kept.String()
}
