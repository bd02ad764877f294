package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// outputFlags are how a command shows its document: --format, --ignore and --fail-on.
type outputFlags struct {
	format document.Format
	ignore []string // codes
	failOn string   // a severity; "" for none
}

// flags adds those flags.
func (o *outputFlags) flags(f *pflag.FlagSet) {
	formatFlag(f, &o.format)
	o.noticeFlags(f)
}

// formatFlag adds --format.
func formatFlag(f *pflag.FlagSet, format *document.Format) {
	*format = document.Text
	f.Var(format, "format", "print `FORMAT`: "+strings.Join(document.FormatNames(), ", "))
}

// noticeFlags adds --ignore and --fail-on.
func (o *outputFlags) noticeFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.ignore, "ignore", nil,
		"do not report notices with this `CODE` (repeatable; post explain lists all)")
	f.StringVar(
		&o.failOn, "fail-on", "", "exit with code 7 if a notice has this `SEVERITY` or a higher one: error, warning",
	)
}

// check returns the error of an unknown code or severity.
func (o *outputFlags) check() error {
	for _, code := range o.ignore {
		if notice.Find(notice.Code(code)) == nil {
			return unknownCode(code)
		}
	}
	if o.failOn != "" && o.failOn != notice.Error.String() && o.failOn != notice.Warning.String() {
		return coll.Unknown("severity", o.failOn, []string{notice.Error.String(), notice.Warning.String()})
	}
	return nil
}

// shows reports whether the user did not ask to ignore a notice.
func (o *outputFlags) shows(code notice.Code) bool { return !slices.Contains(o.ignore, string(code)) }

// kept are the notices that are shown.
func (o *outputFlags) kept(all []notice.Notice) []notice.Notice {
	return slices.DeleteFunc(slices.Clone(all), func(n notice.Notice) bool { return !o.shows(n.Code()) })
}

// write shows the document. The error is the writer's, or that notices are as severe as --fail-on.
func (o *outputFlags) write(d *document.Document, w io.Writer) error {
	buffered := bufio.NewWriter(w)
	if err := d.Write(buffered, o.format); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return o.failed(d.Notices)
}

// failed is the error of --fail-on for these notices.
func (o *outputFlags) failed(all []notice.Notice) error {
	if o.failOn == "" {
		return nil
	}
	var least notice.Severity
	if err := least.UnmarshalText([]byte(o.failOn)); err != nil {
		return err
	}
	n := 0
	for i := range all {
		if all[i].Severity >= least {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &failOnError{n, o.failOn}
}

// failOnError is that there are notices of a severity, or a higher one, that --fail-on names.
type failOnError struct {
	n        int
	severity string
}

func (e *failOnError) Error() string {
	return fmt.Sprintf("%s of severity %s or higher (--fail-on %s)", units.Count(e.n, "notice"), e.severity, e.severity)
}
