package nccllogs

import "busbar/internal/notice"

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

func (p Printer) String() string { return notice.TextOf(p) }
