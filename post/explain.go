package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

func newExplain(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [CODE]",
		GroupID: "other",
		Short:   "List the codes of all notices, or document one",
		Long: `Each warning, finding and problem has a code that never changes. Without CODE,
post explain lists all codes. With CODE, it prints what the code means, what to
do about it, and an example.`,
		Example: `  post explain
  post explain drift`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				listCodes(stdout)
				return nil
			}
			e := notice.Find(notice.Code(args[0]))
			if e == nil {
				return &usageError{coll.Unknown("code", args[0], codes()), cmd.CommandPath()}
			}
			fmt.Fprint(stdout, explain(e))
			return nil
		},
	}
}

func codes() (all []string) {
	for _, e := range notice.Entries() {
		all = append(all, string(e.Code()))
	}
	return all
}

func listCodes(w io.Writer) {
	for _, e := range notice.Entries() {
		lines := wrap(notice.Message(e.Example), 43)
		if len(lines) > 1 {
			lines[0] += " …"
		}
		fmt.Fprintf(w, "%-24s %-8s %s\n", e.Code(), e.Severity, lines[0])
	}
	fmt.Fprintln(w, "\npost explain CODE documents one of them.")
}

// explain documents a code for a terminal.
func explain(e *notice.Entry) string {
	var b strings.Builder
	paragraph := func(title, text string) {
		if text == "" {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for line := range strings.Lines(text) {
			for _, l := range wrap(line, 78) {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
	}
	fmt.Fprintf(&b, "%s (%s)\n", e.Code(), e.Severity)
	paragraph("Meaning", e.Meaning())
	paragraph(
		"Example",
		strings.Join(append([]string{notice.Message(e.Example) + "."}, notice.Details(e.Example)...), "\n"),
	)
	paragraph("Advice", notice.ToDo(e.Example))
	paragraph("Parameters", strings.Join(parameters(e.Example), "\n"))
	paragraph("Source", e.Source)
	return b.String()
}

// parameters are the names of a fact's parameters in JSON.
func parameters(f notice.Fact) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(f)) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
