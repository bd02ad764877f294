package coll

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// UnknownWordError reports a word that is not in the vocabulary, with the nearest one.
type UnknownWordError struct {
	Kind    string   // kind of word: "collective", "data type", …
	Word    string   // the word
	Nearest string   // the known word closest to it; empty when none is close
	Known   []string // every known word
}

// mostKnown is how many words are listed beside the nearest one.
const mostKnown = 40

func (e *UnknownWordError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "unknown %s %q", e.Kind, e.Word)
	if e.Nearest != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Nearest)
	}
	if e.Nearest == "" || len(e.Known) <= mostKnown {
		fmt.Fprintf(&b, " (known: %s)", strings.Join(e.Known, ", "))
	}
	return b.String()
}

// Unknown returns the error for an unknown word.
func Unknown(kind, word string, known []string) error {
	return &UnknownWordError{Kind: kind, Word: word, Nearest: Nearest(word, known), Known: known}
}

// Nearest returns the word of known with the smallest edit distance to word, or "" when every one of them is
// further away than half the length of word (at least two edits are always forgiven).
func Nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", max(2, len(word)/2)+1
	for _, k := range known {
		if d := distance(word, strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// vocabulary maps the values 1, 2, 3, … of one word type to their spellings.
type vocabulary[T ~uint8] struct {
	kind    string
	names   []string          // names[i] is the spelling of value i+1
	aliases map[string]string // other spellings people type, in lower case, to a name
}

func (v *vocabulary[T]) all() (all []T) {
	for i := range v.names {
		all = append(all, T(i+1))
	}
	return all
}

func (v *vocabulary[T]) name(t T) string {
	if t < 1 || int(t) > len(v.names) {
		return fmt.Sprintf("%s(%d)", strings.ReplaceAll(v.kind, " ", ""), t)
	}
	return v.names[t-1]
}

func (v *vocabulary[T]) parse(s string) (T, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if name, ok := v.aliases[word]; ok {
		word = name
	}
	if i := slices.Index(v.names, word); i >= 0 {
		return T(i + 1), nil
	}
	e := &UnknownWordError{Kind: v.kind, Word: s, Nearest: Nearest(s, v.names), Known: v.names}
	if e.Nearest == "" { // an alias is a second choice: its name is the better word
		e.Nearest = Nearest(s, slices.Sorted(maps.Keys(v.aliases)))
	}
	return 0, e
}

func (v *vocabulary[T]) marshal(t T) ([]byte, error) {
	if t < 1 || int(t) > len(v.names) {
		return nil, fmt.Errorf("coll: %d is no %s", t, v.kind)
	}
	return []byte(v.names[t-1]), nil
}
