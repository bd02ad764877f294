package nccllog

import (
	_ "embed" // for defects.tsv
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/units"
	"busbar/post/nccllog/logline"

	"busbar/internal/notice/nccllogs"
)

// defect is a known defect of some versions of NCCL, and what shows it.
type defect struct {
	from, to release
	name     nccllogs.Defect
	sign     *regexp.Regexp
}

// release is the number of a version: 2, 27, 7.
type release [3]int

func (r release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

//go:embed defects.tsv
var defectsFile string

var knownDefects = func() (all []defect) {
	for f := range units.Rows(defectsFile, 4) {
		all = append(all, defect{releaseOf(f[0]), releaseOf(f[1]), nccllogs.Defect(f[2]), regexp.MustCompile(f[3])})
	}
	return all
}()

// releaseOf reads "2.27.7", and "21.2.12", as PyTorch 1.12 writes 2.12.12.
func releaseOf(text string) (r release) {
	for i, part := range strings.SplitN(text, ".", 3) {
		r[i], _ = strconv.Atoi(part[:logline.Run(part, 0, "0123456789")])
	}
	if r[0] >= 20 {
		r = release{r[0] / 10, r[0]%10*10 + r[1], r[2]}
	}
	return r
}

// versionInError is the version that PyTorch names in its error.
var versionInError = regexp.MustCompile(`NCCL version (\d+\.\d+\.\d+)`)

// findDefects finds known defects of the versions in the log.
func findDefects(l *findings) {
	var versions []release
	for _, v := range l.Versions {
		if v.Library == NCCL {
			versions = append(versions, releaseOf(v.Text))
		}
	}
	var texts []string
	for _, m := range l.Messages {
		texts = append(texts, m.Text)
		if v := versionInError.FindStringSubmatch(m.Text); v != nil {
			versions = append(versions, releaseOf(v[1]))
		}
	}
	for _, g := range l.Network.GDR {
		texts = append(texts, g.Said)
	}
	for _, d := range knownDefects {
		i := slices.IndexFunc(versions, func(v release) bool {
			return slices.Compare(d.from[:], v[:]) <= 0 && slices.Compare(v[:], d.to[:]) <= 0
		})
		if i >= 0 && slices.ContainsFunc(texts, d.sign.MatchString) {
			l.add(nccllogs.KnownDefect{Version: versions[i].String(), Defect: d.name})
		}
	}
}
