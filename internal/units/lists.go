package units

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// SortBy sorts values by a key; those with equal keys keep their order.
func SortBy[T any, K cmp.Ordered](all []T, key func(T) K) {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// Map returns what a function makes of each value of a list, in order; nil of none.
func Map[T, U any](all []T, of func(T) U) (made []U) {
	for _, v := range all {
		made = append(made, of(v))
	}
	return made
}

// Where returns the values that satisfy a condition; nil if none does.
func Where[T any](all []T, is func(T) bool) (some []T) {
	for _, v := range all {
		if is(v) {
			some = append(some, v)
		}
	}
	return some
}

// Each yields pointers to the values of a list.
func Each[T any](all []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

// Entry returns the first value of a list that satisfies a condition. Without one it appends other.
func Entry[T any](all *[]T, is func(T) bool, other T) *T {
	i := slices.IndexFunc(*all, is)
	if i < 0 {
		i, *all = len(*all), append(*all, other)
	}
	return &(*all)[i]
}

// Numbers are the numbers of keys, from 0 in the order in which keys come first.
type Numbers[K comparable] map[K]int

// Of returns the number of a key, and whether the key is new.
func (n *Numbers[K]) Of(key K) (number int, added bool) {
	number, known := (*n)[key]
	if known {
		return number, false
	}
	if number = len(*n); number == 0 {
		*n = Numbers[K]{}
	}
	(*n)[key] = number
	return number, true
}

// Rows yields the rows of a table in a text, without comments: n cells with tabs between them, the last ones of which
// may be missing.
func Rows(table string, n int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			cells := make([]string, n)
			copy(cells, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
			if line[0] != '#' && !yield(cells) {
				return
			}
		}
	}
}
