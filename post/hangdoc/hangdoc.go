// Package hangdoc makes a document of what post/hang found.
package hangdoc

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/internal/units"
	"busbar/post/hang"
)

// data is what the JSON of post hang has beside notices.
type data struct {
	Verdict        hang.Verdict    `json:"verdict"`
	Evidence       []notice.Notice `json:"evidence"`
	Contradictions []notice.Notice `json:"contradictions"`
}

// Of returns a finding as a document: the verdict first, what to do last. notes are on the files.
func Of(f *hang.Finding, notes ...notice.Notice) *document.Document {
	d := &document.Document{
		Kind: "hang", Notices: append(notes, notice.New(f.Cause)),
		Data: &data{f.Verdict, f.Evidence, f.Contradictions},
	}
	d.Add(Sections(f)...)
	return d
}

// Sections are the parts of a finding.
func Sections(f *hang.Finding) (all []document.Block) {
	head := append(document.Lines{notice.New(f.Cause).Sentence()}, notice.Details(f.Cause)...)
	for _, n := range f.Evidence {
		if _, is := n.Fact.(hangs.StackAt); is {
			head = append(head, notice.Sentence(n.Fact))
		}
	}
	all = append(all, head)
	for _, s := range f.Stacks {
		all = append(all, stackSection(s, f.Folder))
	}
	all = append(all, list("Evidence", f.Evidence, f.Folder)...)
	all = append(all, list("Limits and contradictions", f.Contradictions, f.Folder)...)
	if len(f.Calls) > 0 {
		all = append(all, document.NewSection("Last collectives", chart(f.Calls), table(f.Calls)))
	}
	return append(all, next(f))
}

// list is a section of notices, whose files are below a folder.
func list(title string, of []notice.Notice, folder string) []document.Block {
	var texts document.List
	for _, n := range of {
		n.At.File = strings.TrimPrefix(n.At.File, folder)
		texts = append(texts, strings.Join(append([]string{n.Sentence()}, n.Details()...), " "))
	}
	if len(texts) == 0 {
		return nil
	}
	return []document.Block{document.NewSection(title, texts)}
}

// maxFrames is how many functions of a stack are shown.
const maxFrames = 12

func stackSection(s hang.RankStack, folder string) document.Block {
	what := "Stack"
	if s.Calls {
		what = "Last call"
	}
	title := fmt.Sprintf("%s of rank %d (%s), innermost first", what, s.Rank, strings.TrimPrefix(s.Source, folder))
	var lines []string
	for i, f := range s.Frames {
		if i == maxFrames {
			lines = append(lines, fmt.Sprintf("… %s", units.Count(len(s.Frames)-i, "more function")))
			break
		}
		lines = append(lines, fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line))
	}
	return document.NewSection(title, document.Code(strings.Join(lines, "\n")))
}

// Variables are what records the evidence of the next hang.
const Variables = `export TORCH_FR_BUFFER_SIZE=20000 TORCH_NCCL_TRACE_BUFFER_SIZE=20000
export TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_ENABLE_MONITORING=1
export TORCH_FR_DUMP_TEMP_FILE=$PWD/hang/trace_ TORCH_NCCL_DEBUG_INFO_TEMP_FILE=$PWD/hang/trace_
export NCCL_DEBUG=WARN PYTHONFAULTHANDLER=1
mkdir -p hang`

// next is what to do.
func next(f *hang.Finding) document.Block {
	facts := []notice.Fact{f.Cause}
	for _, n := range f.Contradictions {
		facts = append(facts, n.Fact)
	}
	s := document.NewSection("Next", document.List(notice.ToDos(facts...)))
	if hangs.VerdictCode(f.Cause) == hangs.VerdictCode(hangs.InsufficientEvidence{}) {
		s.Add(document.Paragraph("Set these variables on all ranks:"), document.Code(Variables))
	}
	return s
}

// table is the last collectives with the ranks in each state; equal ones share a row.
func table(of []hang.Column) *document.Table {
	heads := []string{"#>", "collective"}
	for _, s := range states {
		heads = append(heads, s.name)
	}
	t := document.NewTable(heads...)
	var cells []string
	for i, c := range of {
		before := cells
		cells = []string{c.Call.String()}
		for _, ranks := range c.Ranks {
			text := ""
			if len(ranks) > 0 {
				text = ranks.String()
			}
			cells = append(cells, text)
		}
		number := fmt.Sprint(c.Sequence)
		if n := len(t.Rows); n > 0 && slices.Equal(before, cells) && of[i-1].Sequence+1 == c.Sequence {
			first, _, _ := strings.Cut(t.Rows[n-1][0], "-")
			t.Rows[n-1][0] = first + "-" + number
			continue
		}
		t.Row(append([]string{number}, cells...)...)
	}
	t.DropEmpty()
	return t
}
