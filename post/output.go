package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/notices"
)

// outputFlags are how a command shows its document: --format, --ignore and --fail-on.
type outputFlags struct {
	format document.Format
	notices.Selection
}

// flags adds those flags.
func (o *outputFlags) flags(f *pflag.FlagSet) {
	formatFlag(f, &o.format)
	f.StringSliceVar(&o.Ignore, "ignore", nil,
		"do not report notices with this `CODE` (repeatable; post explain lists all)")
	f.StringVar(&o.FailOn, "fail-on", "",
		"exit with code 7 if a notice has this `SEVERITY` or a higher one: error, warning")
}

// formatFlag adds --format.
func formatFlag(f *pflag.FlagSet, format *document.Format) {
	*format = document.Text
	f.Var(format, "format", "print `FORMAT`: "+strings.Join(document.FormatNames(), ", "))
}

// write shows the document. The error is the writer's, or that of --fail-on.
func (o *outputFlags) write(d *document.Document, w io.Writer) error {
	buffered := bufio.NewWriter(w)
	if err := d.Write(buffered, o.format); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return o.Failed(d.Notices)
}

// note prints notices on stderr.
func note(stderr io.Writer, all []notice.Notice) {
	for _, n := range all {
		fmt.Fprintln(stderr, "post:", document.Printable(n.Full()))
	}
}
