package nccllogs

import (
	"cmp"

	"busbar/internal/notice"
)

// Notices on warnings and errors that a library, PyTorch or a program printed. post/nccllog has the patterns by which
// the messages are recognised.

// LibraryMessage reports messages whose cause is known; each cause has its code.
type LibraryMessage struct {
	Cause    notice.Code `json:"cause"`
	Messages []Quoted    `json:"messages" alike:"-"`
	Vendor   Vendor      `json:"vendor"`
}

// Code is that of the cause.
func (m LibraryMessage) Code() Code { return m.Cause }

// Advice is that of the cause, for the tools of the vendor.
func (m LibraryMessage) Advice() string {
	c := causesOfMessages[m.Cause]
	return m.Vendor.pick(c.advice, cmp.Or(c.amd, c.advice))
}

// Unexplained reports messages whose cause is not known.
type Unexplained struct {
	By       Printer  `json:"by"`
	Messages []Quoted `json:"messages" alike:"-"`
}

// Printer is who printed a message.
type Printer string

// Who prints messages.
const (
	ByLibrary Printer = "library"
	ByProgram Printer = "program"
)

var printerTexts = map[Printer]string{ByLibrary: "the library", ByProgram: "the program"}

func (p Printer) String() string { return printerTexts[p] }

func (Unexplained) Code() Code { return "unexplained-message" }

var exampleMessage = Quoted{"WARN", "NET/IB : Got completion with error 12", "net_ib.cc:1297", 2, 41, ""}

// ncclMessages are the entries of those causes.
var ncclMessages = messageEntries()

func messageEntries() []notice.Entry {
	all := []notice.Entry{{
		Example:  Unexplained{ByLibrary, []Quoted{exampleMessage}},
		Severity: notice.Warning,
		Text:     "{By} reports a warning or an error that post log does not explain",
		Details:  []string{"{Messages...}"},
		Doc: `Each warning and error of the library, of PyTorch or of the program is compared with the messages whose
			cause is known. The text of other messages is shown; messages that differ only in numbers
			count once.`,
	}}
	for code, c := range causesOfMessages {
		all = append(all, notice.Entry{
			Example:  LibraryMessage{code, []Quoted{exampleMessage}, NVIDIA},
			Severity: c.severity,
			Source:   c.source,
			Text:     c.text,
			Details:  []string{"{Messages...}"},
			Doc: `Messages with this cause are reported together. Those that follow from another failure are an
			error only if the log lacks that failure.`,
		})
	}
	return all
}
