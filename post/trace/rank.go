package trace

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	rankWord   = regexp.MustCompile(`(?:^|[^a-z])(?:rank|worker)[-_.=]?([0-9]+)`)
	localRank  = regexp.MustCompile(`local[-_]?rank`)
	lastNumber = regexp.MustCompile(`[-_]([0-9]{1,6})\.(?:pt\.trace\.|trace\.)?json(?:\.gz)?$`)
)

// mostRankDigits is how long a rank's number may be: what is longer is a date or a time.
const mostRankDigits = 7

// rankOfPath is the rank that the name of a file says, as profilers and people write it: trace_rank_3.json,
// rank3.sqlite, worker3…, trace_3.json; or the name of a folder around it, rank3/trace.json. Unknown where there is
// none, or several that differ.
func rankOfPath(file string) int {
	file = strings.ToLower(filepath.ToSlash(file))
	for _, name := range slices.Backward(strings.Split(file, "/")) {
		if rank, ok := rankOfName(name); ok {
			return rank
		}
	}
	if found := lastNumber.FindStringSubmatch(file); found != nil {
		rank, _ := strconv.Atoi(found[1]) // digits, and few
		return rank
	}
	return Unknown
}

// rankOfName is the number after the word rank or worker. It is Unknown if several differ; ok is false without a
// number. A rank within a host does not count.
func rankOfName(name string) (rank int, ok bool) {
	for _, found := range rankWord.FindAllStringSubmatch(localRank.ReplaceAllString(name, "local"), -1) {
		n, err := strconv.Atoi(found[1])
		switch {
		case err != nil || len(found[1]) > mostRankDigits:
		case ok && n != rank:
			return Unknown, true
		default:
			rank, ok = n, true
		}
	}
	return rank, ok
}

// within is a rank that a name says, Unknown where a world of so many ranks has none of that number: then the number
// was a step's, or a date. A world of 0 ranks is not known.
func within(rank, world int) int {
	if world > 0 && rank >= world {
		return Unknown
	}
	return rank
}
