package timeline

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// function is the name of a kernel taken apart: what a compiler and a profiler put around it is gone.
type function struct {
	scope string // namespaces, "::" between them; "" without a namespace
	name  string
}

// String is the function without its types and parameters, which can be pages.
func (f function) String() string { return strings.TrimPrefix(f.scope+"::"+f.name, "::") }

// unnamedWords replaces what compilers and profilers call a namespace without a name by "(unnamed)", in signs that
// declarator keeps.
var unnamedWords = strings.NewReplacer("(anonymous namespace)", "{unnamed}", "<unnamed>", "{unnamed}")

// functionOf takes a kernel's name apart as profilers write it: demangled with a type before and arguments behind it,
// shortened to the bare name, or mangled.
func functionOf(kernel string) function {
	s := strings.TrimSuffix(strings.TrimSpace(kernel), ".kd") // as AMD names a kernel's descriptor
	s = strings.ReplaceAll(declarator(demangle.Filter(s)), "{unnamed}", "(unnamed)")
	if i := strings.LastIndex(s, "::"); i >= 0 {
		return function{scope: s[:i], name: s[i+2:]}
	}
	return function{name: s}
}

// declarator is the qualified name of a declaration: no type before it, no template arguments, no parameters.
func declarator(s string) string {
	s, _, _ = strings.Cut(unnamedWords.Replace(s), " [") // words of the compiler behind it: [clone .kd]
	var kept strings.Builder
	depth, parens := 0, 0 // of <, and of ( within them: what is in those may compare
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
			kept.Reset() // what was before is a type: void, static void
		default:
			kept.WriteRune(c)
		}
	}
	return kept.String()
}
