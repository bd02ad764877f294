package report

import (
	"net/url"
	"path/filepath"
	"strings"

	"busbar/internal/notice"
)

// maxFiles is how many results files are linked.
const maxFiles = 500

// fileOf is a results file that was read.
type fileOf struct {
	path   string
	points int
}

// addFiles links the results files; links is the place of each in the report, -1 where it has none.
func (b *builder) addFiles(r *Report) (links []int) {
	for i, f := range b.files {
		if i >= maxFiles {
			links = append(links, -1)
			continue
		}
		links = append(links, len(r.Files))
		r.Files = append(r.Files, File{Name: f.path, Href: hrefFrom(b.options.Dir, f.path), What: "results", Points: f.points})
	}
	if n := len(b.files) - maxFiles; n > 0 {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: maxFiles, Of: len(b.files), What: notice.LeftFiles})
	}
	return links
}

// hrefFrom is a link from the report's folder to a file: a relative path, escaped, which never passes for a scheme.
func hrefFrom(dir, path string) string {
	relative, err := filepath.Rel(absolute(dir), absolute(path))
	if err != nil { // another volume
		relative = absolute(path)
	}
	parts := strings.Split(filepath.ToSlash(relative), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	href := strings.Join(parts, "/")
	if strings.Contains(parts[0], ":") {
		href = "./" + href
	}
	return href
}

// absolute is a path from the root; the path itself where there is no current folder.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
