package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/nccllog"
)

// logger is what post log was asked to do.
type logger struct {
	stdout, stderr io.Writer
	format         string
	against        []string
}

// logFormats are what stdout gets.
var logFormats = map[string]func(*logReport, io.Writer) error{
	"text": (*logReport).writeText, "markdown": (*logReport).writeMarkdown, "json": (*logReport).writeJSON,
}

var logFormatNames = []string{"text", "markdown", "json"}

func newLog(stdout, stderr io.Writer) *cobra.Command {
	l := &logger{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "log [flags] FILE|DIR...",
		Short:   "Say what NCCL's logs tell, what is wrong, in what two differ",
		GroupID: "job",
		Long: `Reads what NCCL 2.4 to 2.30, RCCL or NCCLX wrote with NCCL_DEBUG=INFO, alone or
among other output, from all ranks in one file or from a file of each; the
Inspector's JSON lines; and what ncclras prints. All that is named is one run.

Says versions, ranks, how they reach each other, channels, which algorithm and
protocol was taken at which size, what ranks called, and what is wrong with it:
with the grounds, and with what to do in the words of rank --preflight. Warnings
of the library are explained where what they mean is known.

With --against, A is what is named first, and B what follows that flag: what
differs, first what explains a difference in speed. docs/log.md says how to
record a log, what it costs, and what each finding means.`,
		Example: `  NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET,TUNING \
    NCCL_DEBUG_FILE=logs/nccl.%h.%p mpirun -np 16 ./train
  post log logs
  post log healthy.log --against slow.log
  post log --format json logs | jq '.findings[].says'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("log wants the files or folders to read"), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVar(&l.format, "format", "text", "`FORMAT` on stdout: "+strings.Join(logFormatNames, ", "))
	cmd.Flags().StringArrayVar(&l.against, "against", nil, "compare with the log in this `FILE` or folder; may be given several\ntimes, for the files of one run")
	return cmd
}

// logReport is a log with what was found in it, and, where it is compared, the other.
type logReport struct {
	log      *nccllog.Log
	findings []nccllog.Finding
	other    *nccllog.Log // nil: it is not compared
	contrast *nccllog.Contrast
}

func (l *logger) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	write, known := logFormats[l.format]
	if !known {
		return &usageError{coll.Unknown("format", l.format, logFormatNames), cmd.CommandPath()}
	}
	log, err := l.read(ctx, args)
	if err != nil {
		return err
	}
	r := &logReport{log: log, findings: log.Findings()}
	if len(l.against) > 0 {
		if r.other, err = l.read(ctx, l.against); err != nil {
			return err
		}
		r.contrast = nccllog.Compare(r.log, r.other)
	}
	buffered := bufio.NewWriter(l.stdout)
	if err := write(r, buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// writeJSON writes all facts, with a list wherever one is meant; docs/log.md describes the fields.
func (r *logReport) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(withLists(&struct {
		Kind     string            `json:"kind"`   // "log"
		Schema   int               `json:"schema"` // of this form
		Log      *nccllog.Log      `json:"log"`
		Findings []nccllog.Finding `json:"findings"`
		Against  *nccllog.Log      `json:"against"` // null: nothing was compared
		Contrast *nccllog.Contrast `json:"contrast"`
	}{"log", 1, r.log, r.findings, r.other, r.contrast}))
}

// logWidth is how many columns the text takes.
const logWidth = 100

// writeText writes for a terminal.
func (r *logReport) writeText(w io.Writer) error {
	t := &logText{}
	if r.contrast != nil {
		r.contrastSections(t)
	} else {
		r.sections(t)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// writeMarkdown writes for a page.
func (r *logReport) writeMarkdown(w io.Writer) error {
	m := &logMarkdown{}
	if r.contrast != nil {
		r.contrastSections(m)
	} else {
		r.sections(m)
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// logPage takes what is told of a log, in the order in which it is told.
type logPage interface {
	title(text string)
	line(text string)
	fact(name, value string)
	table(head []string, rows [][]string)
	finding(number int, f nccllog.Finding)
}

// logText is a page for a terminal. Nothing that a log says steers it.
type logText struct{ strings.Builder }

func (t *logText) title(text string) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.WriteString(printable(text) + "\n")
}

func (t *logText) line(text string) { t.indented("  ", "  ", text) }

func (t *logText) fact(name, value string) {
	const column = 14
	t.indented(fmt.Sprintf("  %-*s", column, name), strings.Repeat(" ", column+2), value)
}

func (t *logText) indented(first, rest, text string) {
	for _, line := range wrap(text, logWidth-len([]rune(rest))) {
		t.WriteString(first + line + "\n")
		first = rest
	}
}

func (t *logText) table(head []string, rows [][]string) {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i := range row {
			row[i] = clipCell(result.Printable(row[i]))
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for _, row := range append([][]string{head}, rows...) {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString("  " + cell + strings.Repeat(" ", widths[i]-len([]rune(cell))))
		}
		t.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
}

// clipCell keeps one long value from pushing the others off the screen; JSON and Markdown have it whole.
func clipCell(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func (t *logText) finding(number int, f nccllog.Finding) {
	t.indented(fmt.Sprintf("%3d. %-8s ", number, f.Severity), strings.Repeat(" ", 14), f.Says)
	const margin = "              "
	if f.Who != "" && !strings.Contains(strings.ToLower(f.Says), strings.ToLower(f.Who)) {
		t.indented(margin+"who   ", margin+"      ", f.Who)
	}
	for _, e := range f.Evidence {
		t.indented(margin+"-     ", margin+"      ", e)
	}
	if f.Advice != "" {
		t.indented(margin+"try   ", margin+"      ", f.Advice)
	}
	if f.Source != "" {
		t.indented(margin+"see   ", margin+"      ", f.Source)
	}
}

// logMarkdown is a page of Markdown.
type logMarkdown struct{ strings.Builder }

func (m *logMarkdown) title(text string) {
	if m.Len() == 0 {
		fmt.Fprintf(m, "# %s\n\n", result.MarkdownText(text))
		return
	}
	fmt.Fprintf(m, "\n## %s\n\n", result.MarkdownText(text))
}

func (m *logMarkdown) line(text string) { fmt.Fprintf(m, "%s\n\n", result.MarkdownText(text)) }

func (m *logMarkdown) fact(name, value string) {
	fmt.Fprintf(m, "- **%s**: %s\n", result.MarkdownText(name), result.MarkdownText(value))
}

func (m *logMarkdown) table(head []string, rows [][]string) {
	fmt.Fprintf(m, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		m.WriteString("|")
		for _, cell := range row {
			m.WriteString(" " + result.MarkdownText(cell) + " |")
		}
		m.WriteByte('\n')
	}
	m.WriteByte('\n')
}

func (m *logMarkdown) finding(number int, f nccllog.Finding) {
	fmt.Fprintf(m, "%d. **%s**: %s\n", number, f.Severity, result.MarkdownText(f.Says))
	for _, e := range f.Evidence {
		fmt.Fprintf(m, "   - %s\n", result.MarkdownText(e))
	}
	if f.Who != "" {
		fmt.Fprintf(m, "   - Who: %s\n", result.MarkdownText(f.Who))
	}
	if f.Advice != "" {
		fmt.Fprintf(m, "   - Try: %s\n", result.MarkdownText(f.Advice))
	}
	if f.Source != "" {
		fmt.Fprintf(m, "   - See: %s\n", result.MarkdownText(f.Source))
	}
}
