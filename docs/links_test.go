package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	target  = regexp.MustCompile("`make ([a-z][a-z-]*)")
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names under which the headings of a page can be linked to, as forges make them.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return found
}

func TestLinks(t *testing.T) {
	links := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, page), ""), -1) {
			to, anchor, _ := strings.Cut(strings.Trim(m[1], "<>"), "#")
			if strings.Contains(to, ":") {
				continue // another site
			}
			links++
			at := page
			if to != "" {
				at = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(filepath.Join(root, at)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if anchor != "" && !anchors(read(t, at))[anchor] {
				t.Errorf("%s links to %s: no heading #%s", page, m[1], anchor)
			}
		}
	}
	if links == 0 {
		t.Error("no links found in any page")
	}
}

func TestMakeTargets(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, page := range pages(t) {
		for _, m := range target.FindAllStringSubmatch(read(t, page), -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).MatchString(makefile) {
				t.Errorf("%s names `make %s`, which the Makefile does not have", page, m[1])
			}
		}
	}
}

func TestAnchors(t *testing.T) {
	got := anchors("# How `busbw` is made, in short\n```\n# no heading\n```\n## Q & A\n")
	if !got["how-busbw-is-made-in-short"] || !got["q--a"] || len(got) != 2 {
		t.Errorf("got %v", got)
	}
}
