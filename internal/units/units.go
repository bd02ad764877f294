// Package units formats values for people: the same value is written the same way in every message, table and plot.
// Values are in base units (bytes, seconds, bytes per second) everywhere else.
package units

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"busbar/internal/coll"
)

// Bytes is a size that somebody chose: "64 KiB", "1000 B".
type Bytes int64

func (b Bytes) String() string { return coll.FormatSize(int64(b), true) }

// RoughBytes is a size that was computed or estimated: "12.3 KiB".
type RoughBytes float64

func (b RoughBytes) String() string {
	v, names := float64(b), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(names) > 1 && v >= 1023.5 {
		v, names = v/1024, names[1:]
	}
	decimals := 0
	switch {
	case v == math.Trunc(v):
	case v < 9.995:
		decimals = 2
	case v < 99.95:
		decimals = 1
	}
	return fmt.Sprintf("%.*f %s", decimals, v, names[0])
}

// Seconds is a duration: "12.50 us".
type Seconds float64

func (s Seconds) String() string {
	if s == 0 { // a value; what is unknown has no place in a sentence
		return "0 ms"
	}
	return Duration(float64(s))
}

// Nanoseconds is a duration in seconds that is well below a microsecond: "25 ns".
type Nanoseconds float64

func (n Nanoseconds) String() string { return fmt.Sprintf("%.3g ns", 1e9*float64(n)) }

// Bandwidth is in bytes per second: "338.8 GB/s".
type Bandwidth float64

func (b Bandwidth) String() string { return Gigabytes(float64(b)) + " GB/s" }

// LinkRate is the bandwidth of a link in bytes per second, as people quote it: "450 GB/s", "31.5 GB/s".
type LinkRate float64

func (r LinkRate) String() string {
	if v := float64(r) / 1e9; v < 999.5 {
		return fmt.Sprintf("%.3g GB/s", v)
	}
	return fmt.Sprintf("%.0f GB/s", float64(r)/1e9)
}

// Share is a part of a whole, 1 being all of it: "33 %", "3.1 %".
type Share float64

func (s Share) String() string {
	if v := 100 * float64(s); v < 9.95 && v > -9.95 {
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%.0f %%", 100*float64(s))
}

// Factor is a ratio: "1.25".
type Factor float64

func (f Factor) String() string { return Times(float64(f)) }

// Probability is between 0 and 1: "1.2 %", "less than 1 in 1000".
type Probability float64

func (p Probability) String() string {
	if p < 0.001 {
		return "less than 1 in 1000"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(p))
}

// Duration writes seconds with four digits and the unit that fits; "-" where there is no value.
func Duration(s float64) string {
	switch {
	case s <= 0:
		return "-"
	case s < 999.95e-6:
		return digits(s*1e6) + " us"
	case s < 999.95e-3:
		return digits(s*1e3) + " ms"
	}
	return digits(s) + " s"
}

// SignedDuration writes seconds that may be 0, or below it as a difference is.
func SignedDuration(s float64) string {
	switch {
	case s < 0:
		return "-" + Duration(-s)
	case s == 0:
		return "0"
	}
	return Duration(s)
}

func digits(v float64) string {
	switch {
	case v < 9.9995:
		return fmt.Sprintf("%.3f", v)
	case v < 99.995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Gigabytes writes bytes per second in GB/s, without the unit; with two digits where three decimals would leave fewer.
func Gigabytes(bytesPerSecond float64) string {
	if v := bytesPerSecond / 1e9; v > 0 && v < 0.00995 {
		return fmt.Sprintf("%.2g", v)
	}
	return digits(bytesPerSecond / 1e9)
}

// Times writes a ratio with about three digits.
func Times(v float64) string {
	switch {
	case v < 0.01:
		return fmt.Sprintf("%.2g", v)
	case v < 0.9995:
		return fmt.Sprintf("%.3f", v)
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Capital begins a sentence.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Count is a number and its noun: 1 run, 2 launches, 3 processes.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		noun += "e"
	case y && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// GroupBy returns the values with the same key together, in the order in which keys come first.
func GroupBy[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	index := map[K]int{}
	for _, v := range all {
		k := key(v)
		i, known := index[k]
		if !known {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	return groups
}

// AddOnce appends a word to a list that does not have it.
func AddOnce[T comparable](list []T, word T) []T {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// First lists up to most values and counts the rest by a noun: "a, b, 3 other calls".
func First[T any](all []T, most int, noun string) string {
	var parts []string
	for _, v := range all[:min(most, len(all))] {
		parts = append(parts, fmt.Sprint(v))
	}
	if n := len(all) - most; n > 0 {
		parts = append(parts, Count(n, noun))
	}
	return strings.Join(parts, ", ")
}

// Some lists up to eight words and counts the rest.
func Some(words []string) string {
	if n := len(words) - 8; n > 0 {
		return strings.Join(words[:8], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(words, ", ")
}

// Binary writes a number of bytes with three digits: 1.5 GiB.
func Binary(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/(1<<10), "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB", "EiB"} {
		if x < 999.5 { // what has three digits when it is rounded
			break
		}
		x, unit = x/(1<<10), next
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

// Printable is text without control characters, which could steer a terminal or reverse what follows.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`, "](", `]\(`, "\r\n", " ", "\n", " ")

// Markdown is a text that Markdown shows as it is, also in a cell of a table.
func Markdown(text string) string { return Printable(markdownEscapes.Replace(text)) }

// Truncate returns the first limit bytes of a text, followed by an ellipsis if that cuts it.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Grouped writes a number with commas.
func Grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// plainWord matches a word without characters that a shell interprets.
var plainWord = regexp.MustCompile(`^[\pL\d_./:=,@%+^-]+$`)

// Shell writes words as they are typed into a shell.
func Shell(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if !plainWord.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
