package foreign

import (
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
)

// line is one line of a text, without what launchers put before it.
type line struct {
	n    int
	text string
	body string // without the comment mark, and trimmed
	mark bool   // there was a comment mark
}

// number says whether the line begins with a digit, as rows do.
func (l line) number() bool { return !l.mark && l.body != "" && l.body[0] >= '0' && l.body[0] <= '9' }

// parser reads one family of layouts.
type parser interface {
	// opens says whether the line can only be the beginning of something of this family.
	opens(l line) bool
	// take reads a line; false: it is no part of this layout.
	take(l line) (bool, error)
	// close ends what is open; the file ends, or another family begins.
	close() error
}

// stream is the lines of one process.
type stream struct {
	parsers []parser
	active  parser
	shell   *shell
}

// maxStreams bounds the processes that are told apart by the prefixes of their lines; those beyond share a stream.
const maxStreams = 1024

// text reads a file of lines.
func (in *input) text(r io.Reader) error {
	streams, order := map[string]*stream{}, []*stream{}
	of := func(who string) *stream {
		s := streams[who]
		if s == nil && len(streams) >= maxStreams {
			s = streams[""]
		}
		if s == nil {
			sh := &shell{configurations: &configurations{}}
			s = &stream{shell: sh, parsers: []parser{newNCCLText(in, sh), newOSU(in, sh), newIMB(in), newProfile(in),
				newCommsRes(in), newTable(in), newTorchBench(in), newCLoop(in)}}
			streams[who], order = s, append(order, s)
		}
		return s
	}
	of("")
	err := lines(r, func(n int, text string) error {
		if host, is := plainLog(text); is {
			in.host(host)
			if strings.Contains(text, " version ") || strings.Contains(text, " set by environment to ") {
				return of("").take(in, newLine(n, text), text)
			}
			in.counts.Log++
			return in.sink.Line(n, text)
		}
		who, rest := unprefixed(text)
		// A host's prefix is taken from any line where a table or the like was opened behind it.
		if host, behind, is := strings.Cut(rest+" ", ": "); is {
			if s := streams[who+host+":"]; s != nil && s.active != nil {
				who, rest = who+host+":", strings.TrimSuffix(behind, " ")
			}
		}
		return of(who).take(in, newLine(n, rest), text)
	})
	for _, s := range order {
		for _, p := range s.parsers {
			if e := p.close(); err == nil {
				err = e
			}
		}
	}
	return err
}

// plainLog reports whether a line is of a log of NCCL and nothing else, as host:pid:thread [device] NCCL INFO begins
// it, and of which host. Logs have millions of them.
func plainLog(text string) (host string, is bool) {
	before, _, is := strings.Cut(text, " NCCL INFO ")
	if !is {
		return "", false
	}
	who, device, two := strings.Cut(before, " ")
	is = two && strings.Count(who, ":") == 2 && !strings.ContainsAny(who, "<>[]|") &&
		strings.HasPrefix(device, "[") && !strings.Contains(device, " ")
	host, _, _ = strings.Cut(who, ":")
	return host, is
}

func newLine(n int, text string) line {
	if n == 1 {
		text = strings.TrimPrefix(text, byteOrderMark)
	}
	body := strings.TrimSpace(text)
	l := line{n: n, text: text, mark: strings.HasPrefix(body, "#")}
	l.body = strings.TrimSpace(strings.TrimLeft(body, "#"))
	return l
}

// take offers a line to the layout that is open, after those that it may be the beginning of.
func (s *stream) take(in *input, l line, raw string) error {
	in.shell = s.shell
	for _, p := range s.parsers {
		if l.number() || !p.opens(l) { // nothing begins with a number
			continue
		}
		if s.active != nil && s.active != p {
			if err := s.active.close(); err != nil {
				return err
			}
		}
		s.active = p
		break
	}
	if s.active != nil {
		known, err := s.active.take(l)
		if known && l.number() {
			s.shell.configurations.row()
		}
		if known || err != nil {
			return err
		}
	}
	switch {
	case l.body == "" || fence.MatchString(l.body) || s.shell.take(l):
		return nil
	case libraryLog.MatchString(l.text):
		if m := ncclLoaded.FindStringSubmatch(l.text); m != nil {
			s.shell.vendor, s.shell.library = strings.ToLower(m[1]), m[2]
		}
		if host, is := plainLog(l.text); is {
			in.host(host)
		}
		s.shell.sets(l.text)
		in.counts.Log++
		return in.sink.Line(l.n, raw)
	}
	s.shell.configurations.say(l.text)
	return in.unknown(l.n, raw)
}

var (
	fence      = regexp.MustCompile("^(`{3,}\\w*|[-=*]{3,}|\\[exit status \\d+\\])$")
	libraryLog = regexp.MustCompile(`\b(NCCL|RCCL) (INFO|WARN|TRACE|ABORT|VERSION|version)\b|^(NCCL|RCCL) version\b`)
)

// shell is what the commands and libraries in a log say of what comes behind them.
type shell struct {
	program string // as it was typed, with its folder
	args    []string
	np      int    // ranks that the launcher was told to start; 0: not said
	vendor  string // nccl or rccl, and
	library string // its version, as named since, before a table

	environment    map[string]string // variables of the library that the command or its log names
	configurations *configurations   // of the tests of this stream
	open           *test             // the last one whose rows have begun, since the last command
}

// sets notes the variables of the library that a line sets; what was noted before holds. While a test is open they are
// its own, and those that come when its line is written are dropped.
func (s *shell) sets(text string) {
	environment := &s.environment
	if t := s.open; t != nil && !t.footer {
		if t.table != nil {
			return
		}
		environment = &t.run.Environment
	}
	for name, value := range variables(text) {
		if *environment == nil {
			*environment = map[string]string{}
		}
		if _, there := (*environment)[name]; !there {
			(*environment)[name] = value
		}
	}
}

var benchmarkProgram = regexp.MustCompile(`(^|[\s/])((?:\w+_perf(?:_mpi)?)|osu_\w+|IMB-[\w-]+)(\s|$)`)

// take reads a line that looks like a command with a benchmark in it, as a shell's prompt or `set -x` shows it.
func (s *shell) take(l line) bool {
	m := benchmarkProgram.FindStringSubmatchIndex(l.text)
	if m == nil || strings.Contains(l.text, "Test failure") {
		return false
	}
	before := strings.Fields(l.text[:m[0]])
	begins := strings.HasPrefix(l.body, "$ ") || strings.HasPrefix(l.body, "+ ") || launched(before)
	if !begins && len(before) > 0 {
		return false
	}
	*s = shell{program: l.text[m[4]:m[5]], args: strings.Fields(l.text[m[1]:]),
		np: ranksAsked(before, l.text[m[5]:]), configurations: s.configurations}
	s.sets(l.text)
	return true
}

// launched reports whether one of the words starts programs.
func launched(words []string) bool {
	return behindLauncher(words) != nil ||
		slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == "time" || path.Base(w) == "nohup" })
}

// behindLauncher is the last launcher of MPI among the words, with what follows; nil without one. Words before it
// are of other programs, such as salloc and nice, whose -n is no number of ranks of this one.
func behindLauncher(words []string) []string {
	for i, w := range slices.Backward(words) {
		switch path.Base(w) {
		case "mpirun", "mpirun_rsh", "mpiexec", "srun", "prun", "orterun", "mpiexec.hydra":
			return words[i:]
		}
	}
	return nil
}

// ranksAsked is the number of ranks that the launcher of a benchmark was asked to start, of all programs that a colon
// separates; 0 where it is not given. Before are the words before the benchmark, rest is the line behind it.
func ranksAsked(before []string, rest string) int {
	words := behindLauncher(before)
	if words == nil {
		return 0
	}
	parts := strings.Split(strings.Join(words, " "), " : ")
	if _, others, more := strings.Cut(rest, " : "); more {
		parts = append(parts, strings.Split(others, " : ")...)
	}
	sum := 0
	for _, part := range parts {
		if m := benchmarkProgram.FindStringIndex(part); m != nil {
			part = part[:m[0]]
		}
		n := ranksOf(strings.Fields(part))
		if n == 0 {
			return 0
		}
		sum += n
	}
	return sum
}

// ranksOf is the number of ranks that the options of a launcher give; 0 without one.
func ranksOf(words []string) int {
	for i, w := range words {
		flag, value, joined := strings.Cut(w, "=")
		switch flag {
		case "-np", "--np", "-n", "--n", "--ntasks":
		default:
			if strings.HasPrefix(w, "-n") && !joined {
				if n, ok := amount(w[2:]); ok {
					return n
				}
			}
			continue
		}
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		if n, ok := amount(value); ok {
			return n
		}
	}
	return 0
}

// forget leaves the command behind: what comes now is not of it.
func (s *shell) forget() { *s = shell{configurations: s.configurations} }

// has says whether the program was given this argument.
func (s *shell) has(flag string) bool {
	for _, a := range s.args {
		if a == flag {
			return true
		}
	}
	return false
}
