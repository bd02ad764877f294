package nccllog

import (
	"slices"
	"strconv"
	"strings"
)

// version is a version while it is read.
type version struct {
	Version
	label string // of the line, where it had no header
	who   who
}

// versionLine reads "NCCL version 2.27.7+cuda13.0" behind a header.
func (r *Reader) versionLine(p *process, m message) verdict {
	v, ok := readVersion(m.text)
	if !ok {
		return unknown
	}
	if v.Code != 0 {
		p.code = v.Code
	}
	r.sawVersion(v, "", p)
	return understood
}

func (r *Reader) sawVersion(v Version, label string, p *process) {
	i := slices.IndexFunc(r.versions, func(o *version) bool {
		return o.Text == v.Text && o.Library == v.Library && o.CUDA == v.CUDA && o.Git == v.Git &&
			(p != nil || o.label == label)
	})
	if i < 0 {
		if len(r.versions) >= maxVersions {
			return
		}
		i = len(r.versions)
		r.versions = append(r.versions, &version{Version: v, label: kept(label)})
	}
	r.versions[i].who.add(p)
}

const maxVersions = 1000

// readVersion reads "NCCL version 2.30.3x-git-abc+cuda13.0", "RCCL version 2.20.5+hip6.2 HEAD:abc", "RCCL version :
// 2.22.3-develop:abc".
func readVersion(text string) (v Version, ok bool) {
	text = strings.TrimSpace(text)
	library, rest, found := strings.Cut(text, " version")
	if !found || library != "NCCL" && library != "RCCL" {
		return v, false
	}
	rest = strings.TrimLeft(rest, " :")
	word, after, _ := strings.Cut(rest, " ")
	word, build, _ := strings.Cut(word, "+")
	n := run(word, 0, "0123456789.")
	parts := strings.Split(strings.Trim(word[:n], "."), ".")
	if len(parts) < 2 || len(word) > 100 {
		return v, false
	}
	v.Library, v.Text = Library(library), kept(word)
	v.Code = code(parts)
	suffix := word[n:]
	if strings.HasPrefix(suffix, "x") || strings.Contains(suffix, "nccl-x") {
		v.Library = NCCLX
	}
	if i := strings.Index(suffix, "git-"); i >= 0 {
		v.Git = kept(suffix[i+len("git-"):])
	}
	switch {
	// builds by others may have no number
	case strings.HasPrefix(build, "cuda") && run(build, len("cuda"), "0123456789") > len("cuda"):
		v.CUDA = kept(build[len("cuda"):])
	case strings.HasPrefix(build, "hip"):
		v.ROCm = kept(build[len("hip"):])
	}
	if library == "RCCL" {
		if _, git, ok := strings.Cut(word+" "+after, ":"); ok {
			v.Git = kept(firstWord(git))
		}
	}
	return v, true
}

// code is what ncclGetVersion gives.
func code(parts []string) int {
	var n [3]int
	for i := range min(3, len(parts)) {
		v, err := strconv.Atoi(parts[i])
		if err != nil || v > 999 {
			return 0
		}
		n[i] = v
	}
	if n[0] < 2 || n[0] == 2 && n[1] <= 8 {
		return n[0]*1000 + n[1]*100 + n[2]
	}
	return n[0]*10000 + n[1]*100 + n[2]
}

// driver reads "cudaDriverVersion 13000".
func (r *Reader) driver(p *process, m message) verdict {
	c := cursor{m.text}
	v := 0
	if !c.all("cudaDriverVersion %", &v) {
		return unknown
	}
	p.driver = v
	return understood
}

// other reads a line without any message: a version, and rows of nccl-tests.
func (r *Reader) other(line string, ended bool) {
	if ended && strings.Contains(line, "CCL version") {
		i := strings.Index(line, "CCL version") - 1
		if i < 0 {
			return
		}
		if b := prefix(line[:i]); !b.junk {
			if v, ok := readVersion(line[i:]); ok {
				r.sawVersion(v, b.label, nil)
				return
			}
		}
	}
	if r.lastError(line) || r.old(line) || r.framework(line) || r.programError(line) || r.bare(line, ended) {
		return
	}
	if ended && strings.Contains(line, "ROCm version") {
		r.rocm(line)
		return
	}
	r.fragment(line)
}

// rocm reads "ROCm version : 7.2.0.0-43-abc", which RCCL writes below its own version, without a header.
func (r *Reader) rocm(line string) {
	before, after, _ := strings.Cut(line, "ROCm version")
	_, text, ok := strings.Cut(after, ":")
	if !ok || prefix(before).junk || len(text) > 100 {
		return
	}
	for _, v := range r.versions {
		if v.Library == RCCL && v.ROCm == "" {
			v.ROCm = kept(firstWord(text))
		}
	}
}
