package nccllog

import (
	"regexp"
	"strconv"
	"strings"

	"busbar/post/nccllog/logline"
)

// What "NCCL version 2.30.3x-git-abc+cuda13.0", "RCCL version 2.20.5+hip6.2 HEAD:abc", "RCCL version :
// 2.22.3-develop:abc" have. Builds by others may have no number of CUDA.
var (
	versionText = regexp.MustCompile(`^([NR]CCL) version[ :]+(((\d+)\.(\d+)(?:\.(\d+))?)([^\s+]*))(?:\+cuda(\d\S*))?`)
	gitOf       = map[Library]*regexp.Regexp{
		NCCL: regexp.MustCompile(`git-([^\s+]+)`),
		RCCL: regexp.MustCompile(`:(?: .*:)?([^\s:]+)$`),
	}
)

// readVersionLine reads such a line behind a header.
func readVersionLine(r *Reader, p *process, m message) bool {
	v, ok := readVersion(m.text)
	if ok {
		r.sawVersion(v, p)
	}
	return ok
}

// sawVersion adds a version; a nil process is unknown.
func (r *Reader) sawVersion(v Version, p *process) {
	type key struct{ library, text, cuda, git string }
	p.by(&row(r, &r.log.Versions, key{string(v.Library), v.Text, v.CUDA, v.Git}, v).Processes)
}

func readVersion(text string) (v Version, ok bool) {
	text = strings.TrimSpace(text)
	m := versionText.FindStringSubmatch(text)
	if m == nil || len(m[2]) > 100 {
		return v, false
	}
	library := Library(m[1])
	v = Version{Library: library, Text: m[2], Code: code(m[4:7]), CUDA: m[8]}
	if git := gitOf[library].FindStringSubmatch(text); git != nil {
		v.Git = git[1]
	}
	if strings.HasPrefix(m[7], "x") || strings.Contains(m[7], "nccl-x") {
		v.Library = NCCLX
	}
	return v, true
}

// code is what ncclGetVersion gives.
func code(parts []string) int {
	var n [3]int
	for i, part := range parts {
		n[i], _ = strconv.Atoi(part)
		if n[i] > 999 {
			return 0
		}
	}
	if n[0] < 2 || n[0] == 2 && n[1] <= 8 {
		return n[0]*1000 + n[1]*100 + n[2]
	}
	return n[0]*10000 + n[1]*100 + n[2]
}

// readDriver reads "cudaDriverVersion 13000".
func readDriver(r *Reader, _ *process, m message) bool {
	c, v := logline.Cursor{S: m.text}, 0
	ok := c.All("cudaDriverVersion %", &v)
	r.log.Driver = max(r.log.Driver, v)
	return ok
}

// other reads a line without any message: a version, an error of the program, and rows of nccl-tests.
func (r *Reader) other(line string, ended bool) {
	if i := strings.Index(line, "CCL version") - 1; i >= 0 && ended {
		if rest, _ := unprefixed(line[:i]); rest == "" {
			if v, ok := readVersion(line[i:]); ok {
				r.sawVersion(v, nil)
				return
			}
		}
	}
	if !r.lastError(line) && !r.framework(line) && !r.programError(line) && !r.bare(line, ended) {
		r.fragment(line)
	}
}
