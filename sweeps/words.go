package sweeps

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"busbar/internal/coll"
)

// Words parses a comma-separated list, each entry with parse, and drops duplicates. An empty list is an error.
func Words[T comparable](list string, parse func(string) ([]T, error)) ([]T, error) {
	var all []T
	for word := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(word) == "" {
			return nil, fmt.Errorf("the list %q has an empty entry", list)
		}
		values, err := parse(word)
		if err != nil {
			return nil, err
		}
		all = appendNew(all, values)
	}
	return all, nil
}

func appendNew[T comparable](to, values []T) []T {
	for _, v := range values {
		if !slices.Contains(to, v) {
			to = append(to, v)
		}
	}
	return to
}

// ParseCollectives parses the name of a collective, or "all".
func ParseCollectives(word string) ([]coll.Collective, error) {
	return wordOr(word, "all", coll.Collectives(), coll.ParseCollective)
}

// ParseTypes parses the name of a data type, or "all".
func ParseTypes(word string) ([]coll.DataType, error) {
	return wordOr(word, "all", coll.DataTypes(), coll.ParseDataType)
}

// ParseOps parses the name of a reduction operation, or "all".
func ParseOps(word string) ([]coll.RedOp, error) {
	ops, err := wordOr(word, "all", coll.RedOps(), coll.ParseRedOp)
	if err == nil && ops[0] == 0 {
		names := make([]string, 0, len(coll.RedOps()))
		for _, op := range coll.RedOps() {
			names = append(names, op.String())
		}
		return nil, coll.Unknown("reduction operation", word, names)
	}
	return ops, err
}

// ParsePlacements parses out, in or both.
func ParsePlacements(word string) ([]coll.Placement, error) {
	return wordOr(word, "both", []coll.Placement{coll.OutOfPlace, coll.InPlace}, coll.ParsePlacement)
}

// ParseModes parses throughput, latency or both.
func ParseModes(word string) ([]coll.Mode, error) {
	return wordOr(word, "both", []coll.Mode{coll.Throughput, coll.Latency}, coll.ParseMode)
}

func wordOr[T any](word, several string, all []T, parse func(string) (T, error)) ([]T, error) {
	if strings.EqualFold(strings.TrimSpace(word), several) {
		return all, nil
	}
	v, err := parse(word)
	if err != nil {
		return nil, err
	}
	return []T{v}, nil
}

// ParseRoots parses a rank; "all" and -1 are EveryRoot.
func ParseRoots(word string) ([]int, error) {
	return wordOr(word, "all", []int{EveryRoot}, wholeNumber("root", EveryRoot))
}

// ParseWorlds parses a world size.
func ParseWorlds(word string) ([]int, error) {
	n, err := wholeNumber("world", 1)(word)
	return []int{n}, err
}

// ParseElements parses a number of elements with K, M or G as powers of 1024: "4M".
func ParseElements(word string) ([]int64, error) {
	if strings.ContainsAny(word, "bB") {
		return nil, fmt.Errorf("%q is a size in bytes: use a number of elements such as 4M", word)
	}
	n, err := parseBytes(word)
	if err != nil {
		return nil, fmt.Errorf("elements: %w", err)
	}
	return []int64{n}, nil
}

func parseBytes(word string) (int64, error) {
	n, err := coll.ParseSize(word)
	if err == nil && n < 1 {
		err = fmt.Errorf("size %q: must be at least 1", word)
	}
	return n, err
}

// wholeNumber returns a parser of integers of at least lowest; what names the value in errors.
func wholeNumber(what string, lowest int) func(string) (int, error) {
	return func(word string) (int, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%s %q: must be an integer", what, word)
		}
		if n < int64(lowest) {
			return 0, fmt.Errorf("%s %d: must be at least %d", what, n, lowest)
		}
		return int(n), nil
	}
}

// ParsePercent parses "2%" or "0.02" and returns the ratio, which must be above 0 and below 1.
func ParsePercent(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q: must be a percentage such as 2%%, or a ratio such as 0.02", s)
	}
	if percent {
		v /= 100
	}
	if !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%q: must be above 0 and below 100 %%, such as 2%% or 0.02", s)
	}
	return v, nil
}

// ParseBudget parses a duration above 0.
func ParseBudget(s string) (time.Duration, error) {
	d, err := ParseDuration(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%v: budget must be above 0", d)
	}
	return d, err
}

// ParseDuration parses "10s", "5m", "1h30m", "250ms", or a number of seconds. The result is not negative.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("%q: must be a duration such as 10s, 5m or 250ms, or a number of seconds", s)
		}
		if math.IsNaN(seconds) || math.Abs(seconds) > math.MaxInt64/1e9 {
			return 0, fmt.Errorf("%q: the duration is out of range", s)
		}
		d = time.Duration(seconds * 1e9)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q: duration must not be negative", s)
	}
	return d, nil
}
