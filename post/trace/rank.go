package trace

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	rankWord   = wordBefore("rank")
	workerWord = wordBefore("worker")
	lastNumber = regexp.MustCompile(`(?i)[-_]([0-9]{1,6})\.(?:pt\.trace\.|trace\.)?json(?:\.gz)?$`)
)

// mostRankDigits is how long a rank's number may be: what is longer is a date or a time.
const mostRankDigits = 7

func wordBefore(word string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^a-z])` + word + `[-_.=]?([0-9]+)`)
}

// rankOfPath is the rank that the name of a file says, as profilers and people write it: trace_rank_3.json,
// rank3.sqlite, worker3…, trace_3.json; or the name of a folder around it, rank3/trace.json. Unknown where there is
// none, or several that differ.
func rankOfPath(file string) int {
	file = filepath.ToSlash(file)
	names := strings.Split(file, "/")
	base := names[len(names)-1]
	if rank, ok := rankInWords(base); ok {
		return rank
	}
	for i := len(names) - 2; i >= 0; i-- {
		if rank, ok := numberAfter(rankWord, names[i]); ok {
			return rank
		}
	}
	rank, _ := numberAfter(lastNumber, base)
	return rank
}

// numberAfter is the number after a word; ok is false where the word is not in the name, and the number Unknown where
// it does not tell one. The rank within a host is none.
func numberAfter(word *regexp.Regexp, name string) (n int, ok bool) {
	lower := strings.ToLower(name)
	for _, local := range []string{"local_rank", "local-rank", "localrank"} {
		lower = strings.ReplaceAll(lower, local, "local")
	}
	found := slices.DeleteFunc(word.FindAllStringSubmatch(lower, -1), func(f []string) bool {
		return len(f[1]) > mostRankDigits
	})
	if len(found) == 0 {
		return Unknown, false
	}
	for _, f := range found {
		if f[1] != found[0][1] {
			return Unknown, true
		}
	}
	n, err := strconv.Atoi(found[0][1])
	if err != nil {
		return Unknown, true
	}
	return n, true
}

func rankInWords(name string) (rank int, ok bool) {
	if rank, ok := numberAfter(rankWord, name); ok {
		return rank, true
	}
	return numberAfter(workerWord, name)
}

// within is a rank that a name says, Unknown where a world of so many ranks has none of that number: then the number
// was a step's, or a date. A world of 0 ranks is not known.
func within(rank, world int) int {
	if world > 0 && rank >= world {
		return Unknown
	}
	return rank
}
