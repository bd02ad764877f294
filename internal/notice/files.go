package notice

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Notices on files: what was skipped, and what of a file counts. docs/file-format.md has the format of results files.

// InFile is a notice with its place; line 0 is the whole file.
func InFile(file string, line int, f Fact) Notice {
	n := New(f)
	n.At.File, n.At.Line = file, line
	return n
}

// Failure is a fact as an error.
type Failure struct{ fact Fact }

// Fail makes an error of a fact.
func Fail(f Fact) *Failure { return &Failure{f} }

func (f *Failure) Error() string { return Message(f.fact) }

// Fact is what the error states.
func (f *Failure) Fact() Fact { return f.fact }

// OfError is a notice of what an error states about a file, with its path once.
func OfError(file string, err error) Notice {
	var stated interface{ Fact() Fact }
	if errors.As(err, &stated) {
		return InFile(file, 0, stated.Fact())
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	return InFile(file, 0, FileUnreadable{strings.TrimPrefix(err.Error(), file+": ")})
}

// FileUnreadable reports a file or folder that was skipped for an error.
type FileUnreadable struct {
	Problem string `json:"problem"` // of the operating system, or of a library
}

// NotAFile reports a pipe, a device or a socket with the name of a results file.
type NotAFile struct {
	Is string `json:"is"` // "a pipe"
}

// NotResults reports a file that busbar did not write.
type NotResults struct {
	Problem string `json:"problem"`
}

// NewerFormat reports a file of a newer version.
type NewerFormat struct {
	Format int `json:"format"`
	Reads  int `json:"reads"` // the newest that this version reads
}

// FileEmpty reports a results file without a byte.
type FileEmpty struct{}

// HeaderTorn reports a results file that ends within its first line.
type HeaderTorn struct{}

// TornLine reports the last line of a file that was not written whole.
type TornLine struct{}

// ZeroBytes reports a line of zero bytes.
type ZeroBytes struct{}

// BrokenLine reports a line that cannot be read.
type BrokenLine struct {
	Problem string `json:"problem"`
	Byte    int64  `json:"byte,omitempty"` // of the line
}

// BrokenLines reports lines that cannot be read and are not reported one by one.
type BrokenLines struct {
	More int `json:"more"`
	All  int `json:"all"`
}

// UnknownLine reports a line of a kind that this version does not know, or not in such a run.
type UnknownLine struct {
	Kind string `json:"kind"`
}

// SecondRun reports a file with a second run.
type SecondRun struct{}

// Ending is how a run ended.
type Ending struct {
	Outcome string `json:"outcome,omitempty"` // "": no end is recorded
	Cause   Kept   `json:"cause,omitzero"`
}

func (e Ending) String() string {
	switch {
	case e.Outcome == "":
		return "the run is still running or was killed"
	case e.Outcome == "complete":
		return "the run is complete"
	case e.Cause.Fact != nil:
		return fmt.Sprintf("the run was %s (%v)", e.Outcome, e.Cause)
	}
	return "the run was " + e.Outcome
}

// NoPoints reports a file without points.
type NoPoints struct {
	Ending Ending `json:"ending"`
}

// PartOfRun reports a run that did not complete, with how much of it was read.
type PartOfRun struct {
	Ending  Ending `json:"ending"`
	Records int    `json:"records"`
	Points  int    `json:"points,omitempty"` // planned, of training steps
}

// ResumedRunMissing reports a run that continues another, which was not read.
type ResumedRunMissing struct {
	Run string `json:"run"`
}

// RecordsCopied reports records that are in several files of a run.
type RecordsCopied struct {
	Records int `json:"records"`
}

// RecordsReplaced reports points for which another run of a chain has a better record.
type RecordsReplaced RecordsCopied

// LaunchesDiffer reports a variable that has several values in launches that count as repetitions.
type LaunchesDiffer struct {
	Variable string   `json:"variable"`
	Values   []string `json:"values"`
}

// StepsSkipped reports files of training steps that a command does not use.
type StepsSkipped struct {
	Files int `json:"files"`
}

// PointsSkipped reports points that lack what a command needs.
type PointsSkipped struct {
	Points int  `json:"points"`
	Lack   Lack `json:"lack"`
}

// Lack is what an imported point lacks for tables and charts.
type Lack struct {
	Lacks     string `json:"lacks"`               // collective, world, mode, size, place (of a pattern), operation
	Operation string `json:"operation,omitempty"` // that is no collective
}

// The values of Lack.Lacks.
const (
	LacksCollective = "collective"
	LacksWorld      = "world"
	LacksMode       = "mode"
	LacksSize       = "size"
	OtherOperation  = "operation"
	GroupsOfNodes   = "groups"
)

var lackTexts = map[string]string{
	LacksCollective: "the collective is not recorded (post import --set collective=NAME)",
	LacksWorld:      "the number of ranks is not recorded (post import --set world=N)",
	LacksMode:       "the mode is not recorded (post import --set mode=MODE)",
	LacksSize:       "the size is not recorded",
	GroupsOfNodes:   "groups of nodes, which rank --pattern measured to find a slow node; see post show",
}

func (l Lack) String() string {
	if l.Lacks == OtherOperation {
		return l.Operation + " is not a collective that is compared"
	}
	return lackTexts[l.Lacks]
}

// NotInNCCLTests reports points that the layout of nccl-tests has no place for.
type NotInNCCLTests struct {
	Latency int `json:"latency_points,omitempty"`
	Others  int `json:"other_points,omitempty"` // of other operations, or without collective, size or mode
}

// NothingOfNCCL reports files of a folder without a message of NCCL.
type NothingOfNCCL struct {
	Files int `json:"files"`
}

// NotAnonymized reports a file that post anonymize left out.
type NotAnonymized struct{}

// Full is the text of a notice with its advice, as one line of stderr.
func (n Notice) Full() string {
	if todo := n.Advice(); todo != "" {
		return n.Text() + "; " + todo
	}
	return n.Text()
}

// Lines are notices in an error: a line for each, indented.
func Lines(all []Notice) string {
	var b strings.Builder
	for _, n := range all {
		b.WriteString("\n  " + n.Full())
	}
	return b.String()
}
