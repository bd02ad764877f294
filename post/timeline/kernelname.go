package timeline

import (
	"strconv"
	"strings"
)

// function is the name of a kernel taken apart: what a compiler and a profiler put around it is gone.
type function struct {
	scope string // namespaces, "::" between them; "" where there is none
	name  string
}

// String is the function without its types and parameters, which can be pages.
func (f function) String() string {
	if f.scope == "" {
		return f.name
	}
	return f.scope + "::" + f.name
}

// unnamed is how a namespace without a name is written here: every compiler and profiler has words of its own.
const unnamed = "(unnamed)"

var unnamedWords = strings.NewReplacer("(anonymous namespace)", "{unnamed}", "<unnamed>", "{unnamed}",
	"anonymous_namespace", "{unnamed}")

// functionOf takes a kernel's name apart as profilers write it: demangled with a type before and arguments behind it,
// shortened to the bare name, or mangled.
func functionOf(kernel string) function {
	s := strings.TrimSuffix(strings.TrimSpace(kernel), ".kd") // as AMD names a kernel's descriptor
	if f, ok := mangledFunction(s); ok {
		return f
	}
	return qualified(strings.Split(declarator(s), "::"))
}

// qualified is a function of which the namespaces and the name are known.
func qualified(parts []string) function {
	last := len(parts) - 1
	for i, part := range parts[:last] {
		if part == "{unnamed}" || strings.HasPrefix(part, "_GLOBAL__N_") {
			parts[i] = unnamed
		}
	}
	return function{scope: strings.Join(parts[:last], "::"), name: parts[last]}
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

// mangledFunction reads the names of a function as the Itanium C++ ABI mangles them, which is _Z, then N before nested
// ones, then each with its length before it.
func mangledFunction(s string) (function, bool) {
	rest, ok := strings.CutPrefix(s, "_Z")
	if !ok {
		return function{}, false
	}
	nested := strings.HasPrefix(rest, "N")
	rest = strings.TrimLeft(rest, "NKVrL")
	var names []string
	for {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n < 1 || digits+n > len(rest) {
			break
		}
		names = append(names, rest[digits:digits+n])
		rest = strings.TrimPrefix(rest[digits+n:], "L")
		if !nested {
			break
		}
	}
	if len(names) == 0 {
		return function{}, false
	}
	return qualified(names), true
}
