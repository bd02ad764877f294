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

// mostRankDigits is the maximum length of a rank: longer numbers are dates or times.
const mostRankDigits = 7

// rankOfPath returns the rank in a file name by common conventions: trace_rank_3.json, rank3.sqlite, worker3…,
// trace_3.json; or in the name of its folder, rank3/trace.json. Unknown if there is none, or if several differ.
func rankOfPath(file string) int {
	file = strings.ToLower(filepath.ToSlash(file))
	for _, name := range slices.Backward(strings.Split(file, "/")) {
		if rank, ok := rankOfName(name); ok {
			return rank
		}
	}
	if found := lastNumber.FindStringSubmatch(file); found != nil {
		rank, _ := strconv.Atoi(found[1]) // at most mostRankDigits digits
		return rank
	}
	return Unknown
}

// rankOfName returns the number after the word rank or worker; Unknown if several differ; ok is false without a
// number. Local ranks do not count.
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

// within returns the rank from a name, or Unknown if it exceeds the world size: then it was a step or a date. World
// size 0 is unknown.
func within(rank, world int) int {
	if world > 0 && rank >= world {
		return Unknown
	}
	return rank
}
