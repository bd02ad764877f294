// Package anonymize replaces the names of hosts and users and addresses in texts, so that logs and results can be
// attached to a public report. The same name always becomes the same word, and addresses of one subnet stay in one.
//
// Names are learned from the places where logs, results and environments have them; what is written elsewhere alone,
// such as in a free text, is not recognised.
package anonymize

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Names maps names to their replacements. The zero value is not ready: use New.
type Names struct {
	hosts   map[string]string // by short name, in lower case
	domains map[string]bool
	users   map[string]string
	nets    map[netip.Addr]int // of IPv4: subnets of 24 bits
	others  map[string]int     // other addresses
	known   *regexp.Regexp     // hosts; nil: to be made
	inPaths *regexp.Regexp     // users; nil: to be made
}

// New returns Names that know nothing yet.
func New() *Names {
	return &Names{hosts: map[string]string{}, domains: map[string]bool{}, users: map[string]string{},
		nets: map[netip.Addr]int{}, others: map[string]int{}}
}

const (
	word = `([A-Za-z][\w.-]*)`
	// is separates a name from its value, in environments, command lines and JSON.
	is = `["']?\s*[=:]\s*["']?`
)

var (
	hostPlaces = []*regexp.Regexp{
		regexp.MustCompile(`(?:^|[^\w.-])` + word + `:\d+:\d+ \[\d`), // NCCL's debug log
		regexp.MustCompile(`Pid +\d+ on +` + word + ` device`),       // nccl-tests
		regexp.MustCompile(`"(?:host|hostname|node|node_name|nodename)"\s*:\s*"` + word + `"`),
		regexp.MustCompile(`\b(?:HOSTNAME|SLURMD_NODENAME|SLURM_SUBMIT_HOST|SLURM_LAUNCH_HOST|MASTER_ADDR)` + is +
			word),
		regexp.MustCompile(`\bhost ` + word + `, rank \d`),
		regexp.MustCompile(`@` + word + `\b`),
	}
	hostLists = []*regexp.Regexp{
		regexp.MustCompile(`"(?:hosts|node_names)"\s*:\s*\[([^\]]*)\]`),
		regexp.MustCompile(`\bSLURM_(?:JOB_|STEP_)?NODELIST` + is + `([\w.,\[\]-]+)`),
	}
	userPlaces = []*regexp.Regexp{
		regexp.MustCompile(`/(?:home|users|Users)/([A-Za-z_][\w.-]*)`),
		regexp.MustCompile(`\b(?:USER|LOGNAME|USERNAME|SLURM_JOB_USER)` + is + `([A-Za-z_][\w.-]*)`),
		regexp.MustCompile(`(?:^|[\s"'=])([a-z_][\w-]*)@[A-Za-z]`),
	}
	userValue = regexp.MustCompile(`(\b(?:USER|LOGNAME|USERNAME|SLURM_JOB_USER)` + is + `)([A-Za-z_][\w.-]*)`)

	listed   = regexp.MustCompile(`[A-Za-z][\w.-]*(?:\[[\d,-]+\])?`)
	numbered = regexp.MustCompile(`([A-Za-z][\w.-]*?)\[([\d,-]+)\]`) // gpu[01-04,07]
	ipv4     = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`)
	ipv6     = regexp.MustCompile(`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}`)
	mac      = regexp.MustCompile(`[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}`)
)

// common are words that name no single host or user.
var common = []string{"localhost", "root", "nobody", "unknown", "none", "null", "slurm"}

// Learn takes the names of hosts and users out of a line.
func (n *Names) Learn(line string) {
	for _, place := range hostPlaces {
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			n.host(m[1])
		}
	}
	for _, list := range hostLists {
		for _, m := range list.FindAllStringSubmatch(line, -1) {
			for _, entry := range listed.FindAllString(m[1], -1) {
				for _, name := range expand(entry) {
					n.host(name)
				}
			}
		}
	}
	for _, place := range userPlaces {
		for _, m := range place.FindAllStringSubmatch(line, -1) {
			n.user(m[1])
		}
	}
}

func (n *Names) host(name string) {
	name = strings.ToLower(strings.Trim(name, `"' .`))
	short, domain, _ := strings.Cut(name, ".")
	if len(short) < 2 || slices.Contains(common, short) || ipv4.MatchString(name) {
		return
	}
	if strings.Contains(domain, ".") || domain != "" && strings.IndexByte("0123456789", domain[0]) < 0 {
		n.domains[domain] = true
	}
	if n.hosts[short] == "" {
		n.hosts[short], n.known = fmt.Sprintf("host%d", len(n.hosts)+1), nil
	}
}

func (n *Names) user(name string) {
	if slices.Contains(common, name) || n.users[name] != "" {
		return
	}
	n.users[name], n.inPaths = fmt.Sprintf("user%d", len(n.users)+1), nil
}

// maxRange bounds the hosts of one range.
const maxRange = 1 << 16

// expand gives the names of an entry of a list as Slurm writes it: gpu[01-03]. What is no range is a name.
func expand(name string) (names []string) {
	m := numbered.FindStringSubmatch(name)
	if m == nil || m[0] != name {
		return []string{name}
	}
	for _, part := range strings.Split(m[2], ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || last-first > maxRange {
			return []string{name}
		}
		for i := first; i <= last; i++ {
			names = append(names, fmt.Sprintf("%s%0*d", m[1], len(from), i))
		}
	}
	return names
}

// Replace returns the line with every learned name and every address replaced. Keys of JSON stay.
func (n *Names) Replace(line string) string {
	if n.known == nil {
		n.compile()
	}
	line = numbered.ReplaceAllStringFunc(line, func(list string) string {
		var words []string
		for _, name := range expand(list) {
			stands := n.hosts[strings.ToLower(name)]
			if stands == "" {
				return list
			}
			words = append(words, stands)
		}
		return strings.Join(words, ",")
	})
	line = whole(n.known, line, func(name string) string { return n.hosts[strings.ToLower(name)] })
	for _, domain := range slices.Sorted(maps.Keys(n.domains)) {
		line = strings.ReplaceAll(line, "."+domain, "")
	}
	line = n.inPaths.ReplaceAllStringFunc(line, func(found string) string {
		return found[:1] + n.users[found[1:]]
	})
	line = userValue.ReplaceAllStringFunc(line, func(found string) string {
		m := userValue.FindStringSubmatch(found)
		return m[1] + n.orSame(m[2])
	})
	line = whole(mac, line,
		func(a string) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", n.other(a)/256%256, n.other(a)%256) })
	line = whole(ipv6, line, n.address6)
	return whole(ipv4, line, n.address4)
}

func (n *Names) orSame(user string) string {
	if stands := n.users[user]; stands != "" {
		return stands
	}
	return user
}

// compile makes the patterns of the names that are known; those of none match nothing.
func (n *Names) compile() {
	n.known = alternatives(`(?i)`, n.hosts, `\x00`)
	n.inPaths = alternatives(`[/]`, n.users, `\x00`)
}

func alternatives(before string, names map[string]string, none string) *regexp.Regexp {
	all := []string{none}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, regexp.QuoteMeta(name))
	}
	re := regexp.MustCompile(before + `(?:` + strings.Join(all, "|") + `)`)
	re.Longest()
	return re
}

// whole replaces matches that are neither part of a longer word nor a key of JSON; "" means no replacement.
func whole(re *regexp.Regexp, line string, stands func(string) string) string {
	var b strings.Builder
	last := 0
	for _, at := range re.FindAllStringIndex(line, -1) {
		if at[0] > 0 && wordByte(line[at[0]-1]) || at[1] < len(line) && wordByte(line[at[1]]) ||
			strings.HasPrefix(line[at[1]:], `":`) {
			continue
		}
		if word := stands(line[at[0]:at[1]]); word != "" {
			b.WriteString(line[last:at[0]])
			b.WriteString(word)
			last = at[1]
		}
	}
	return b.String() + line[last:]
}

func wordByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// address4 is an address of 198.18.0.0/15, which is for benchmarks (RFC 2544), with the last byte of the original:
// addresses of one /24 stay in one. Loopback, unspecified and masks stay.
func (n *Names) address4(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || strings.HasPrefix(text, "255.") {
		return ""
	}
	b := a.As4()
	last := b[3]
	if b[0] == 198 && b[1]&^1 == 18 { // replaced already
		return ""
	}
	b[3] = 0
	net := netip.AddrFrom4(b)
	k, seen := n.nets[net]
	if !seen {
		k = len(n.nets)
		n.nets[net] = k
	}
	return fmt.Sprintf("198.%d.%d.%d", 18+k/256%2, k%256, last)
}

// address6 is an address for documentation (RFC 3849), or a link-local one for one of these.
func (n *Names) address6(text string) string {
	if at := strings.LastIndexByte(text, ':'); strings.Contains(text, ".") { // ::ffff:10.0.0.1
		if v4 := n.address4(text[at+1:]); v4 != "" {
			return text[:at+1] + v4
		}
		return ""
	}
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil || a.IsLoopback() || a.IsUnspecified() ||
		!strings.Contains(text, "::") && strings.Count(text, ":") < 7:
		return ""
	case a.IsLinkLocalUnicast():
		return fmt.Sprintf("fe80::%x", n.other(text))
	}
	return fmt.Sprintf("2001:db8::%x", n.other(text))
}

// other numbers the other addresses from 1 on.
func (n *Names) other(text string) int {
	text = strings.ToLower(text)
	if n.others[text] == 0 {
		n.others[text] = len(n.others) + 1
	}
	return n.others[text]
}
