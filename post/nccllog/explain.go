package nccllog

import (
	_ "embed" // for messages.tsv
	"regexp"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
	"busbar/internal/units"
)

// explained is a pattern of messages with the code of their cause, which internal/notice explains.
type explained struct {
	match   *regexp.Regexp
	place   *regexp.Regexp // of the source line that printed it
	code    notice.Code
	follows bool // from another failure, whose message is the one to look for
	generic bool // other programs than NCCL print it too
}

//go:embed messages.tsv
var messagesFile string

// explanations are the messages whose cause is known; the first that matches counts.
var explanations = func() (all []explained) {
	for f := range units.Rows(messagesFile, 3) {
		code, generic := strings.CutSuffix(f[0], "~")
		code, follows := strings.CutSuffix(code, "*")
		all = append(all, explained{regexp.MustCompile(f[1]), regexp.MustCompile(f[2]), notice.Code(code), follows,
			generic})
	}
	return all
}()

// explain returns the explanation of a message; nil where its cause is not known.
func explain(m Message) *explained {
	if e := explainCompletion(m.Text); e != nil {
		return e
	}
	for e := range units.Each(explanations) {
		if e.match.MatchString(m.Text) && e.place.MatchString(m.Place) {
			return e
		}
	}
	return nil
}

// completion is a NIC's answer that an operation failed: "Got completion from peer A with error 12, opcode 0, len 0,
// vendor err 129", "with status=12 opcode=1", or "status=RETRY_EXC_ERR(12)".
var completion = regexp.MustCompile(
	`Got (?:a )?completion .*?(?:error |status=)(?:[A-Za-z_ ]*\()?(\d+)\)?.*?vendor[ _]err[ =]?(\d+)`)

// statuses are the codes for enum ibv_wc_status of libibverbs.
var statuses = map[string]notice.Code{
	"4": "rdma-local-protection", "5": "rdma-flushed", "9": "rdma-refused", "10": "rdma-remote-access",
	"11": "rdma-remote-failed", "12": "rdma-no-answer", "13": "rdma-receiver-not-ready",
}

// explainCompletion explains a failed completion; nil where the text is none.
func explainCompletion(text string) *explained {
	m := completion.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	code, known := statuses[m[1]]
	if !known {
		code = "rdma-failed"
	}
	return &explained{code: code, follows: code == "rdma-flushed"}
}

// severe reports whether a message of this cause is an error by itself.
func (e *explained) severe() bool { return notice.Find(e.code).Severity == notice.Error }

// causeOf is what messages of one cause have in common: its code or, where it is not known, the text without numbers.
func causeOf(m Message) string {
	if e := explain(m); e != nil {
		return string(e.code)
	}
	return shape(m.Text)
}

// findMessages explains the warnings and errors, those of one cause together. Those that follow from others are no
// errors where those are in the log.
func findMessages(l *findings) {
	cause := false
	for _, m := range l.Messages {
		e := explain(m)
		cause = cause || e != nil && !e.follows && e.severe()
	}
	messages := units.Where(l.Messages, func(m Message) bool { return m.Level != failed })
	for _, same := range units.GroupBy(messages, causeOf) {
		var quotes []nccllogs.Quoted
		var processes []int
		for _, m := range same {
			quotes, processes = append(quotes, l.quote(m)), append(processes, m.Processes...)
		}
		e, who := explain(same[0]), l.who(processes)
		if e == nil {
			printer := nccllogs.ByLibrary
			if same[0].Level == programLevel {
				printer = nccllogs.ByProgram
			}
			l.about(who, nccllogs.Unexplained{By: printer, Messages: quotes}).shape = causeOf(same[0])
			continue
		}
		f := l.about(who, nccllogs.LibraryMessage{Cause: e.code, Messages: quotes, Vendor: l.vendor()})
		if f.follows = e.follows; f.follows && !cause {
			f.Severity, cause = notice.Error, true // the first of them is the nearest to the cause
		}
	}
	if messages == nil {
		findFailed(l)
	}
}

// failed is the level of lines by which an error is passed on: "init.cc:1798 -> 6".
const failed = "FAIL"

// findFailed finds errors without a warning, as with NCCL_DEBUG_SUBSYS set to little.
func findFailed(l *findings) {
	var fact nccllogs.FailedCalls
	var processes []int
	for _, m := range l.Messages {
		if m.Level != failed {
			continue
		}
		if _, after, ok := strings.Cut(m.Text, "-> "); ok && fact.Result == "" {
			code, _, _ := strings.Cut(after, " ")
			fact.Result = nccllogs.ResultCode(code)
		}
		fact.Lines, processes = append(fact.Lines, brief(m.Text)), append(processes, m.Processes...)
	}
	if fact.Lines != nil {
		l.about(l.who(processes), fact)
	}
}

// quote is a message with its place, how often it occurs, and where first.
func (l *Log) quote(m Message) nccllogs.Quoted {
	q := nccllogs.Quoted{Level: m.Level, Text: brief(m.Text), Place: m.Place, Times: int(m.Times), Line: int(m.Line)}
	if len(l.Files) > 1 && m.Line > 0 && m.File >= 0 && m.File < len(l.Files) {
		q.File = l.Files[m.File].Path
	}
	return q
}

// brief shortens a text that is quoted.
func brief(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
