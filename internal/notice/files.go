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
type RecordsReplaced struct {
	Records int `json:"records"`
}

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

func (NotAnonymized) Code() Code     { return "not-anonymized" }
func (NothingOfNCCL) Code() Code     { return "nothing-of-nccl" }
func (FileUnreadable) Code() Code    { return "file-unreadable" }
func (NotAFile) Code() Code          { return "not-a-file" }
func (NotResults) Code() Code        { return "not-a-results-file" }
func (NewerFormat) Code() Code       { return "newer-format" }
func (FileEmpty) Code() Code         { return "file-empty" }
func (HeaderTorn) Code() Code        { return "header-torn" }
func (TornLine) Code() Code          { return "torn-line" }
func (ZeroBytes) Code() Code         { return "zero-bytes" }
func (BrokenLine) Code() Code        { return "broken-line" }
func (BrokenLines) Code() Code       { return "broken-lines" }
func (UnknownLine) Code() Code       { return "unknown-line" }
func (SecondRun) Code() Code         { return "second-run" }
func (NoPoints) Code() Code          { return "no-points" }
func (PartOfRun) Code() Code         { return "part-of-run" }
func (ResumedRunMissing) Code() Code { return "resumed-run-missing" }
func (RecordsCopied) Code() Code     { return "records-copied" }
func (RecordsReplaced) Code() Code   { return "records-replaced" }
func (LaunchesDiffer) Code() Code    { return "launches-differ" }
func (StepsSkipped) Code() Code      { return "steps-skipped" }
func (PointsSkipped) Code() Code     { return "points-skipped" }
func (NotInNCCLTests) Code() Code    { return "not-in-nccl-tests-layout" }

const (
	removeIfDone = "remove the file if no run writes it"
	damagedFile  = "look for the cause (a full disk, a crash of the host); " +
		"rank --resume measures the points that are missing"
)

var files = []Entry{
	{
		Example: FileUnreadable{"permission denied"}, Severity: Warning,
		Text: "cannot be read: {Problem}",
		Doc:  "A file or folder that cannot be read is skipped, and all others are read.",
	},
	{
		Example: NotAFile{"a pipe"}, Severity: Warning,
		Text: "skipped: it is {Is}, not a file",
		Doc:  "A results file is read more than once, which a pipe, a device or a socket does not allow.",
	},
	{
		Example: NotResults{"its first line is no JSON object"}, Severity: Warning,
		Text:   "not a results file of busbar: {Problem}",
		Advice: "convert output of other tools with post import",
		Doc:    "The first line of a results file describes its run.",
	},
	{
		Example: NewerFormat{3, 2}, Severity: Warning,
		Text:   "has format {Format}, this busbar reads up to {Reads}",
		Advice: "update busbar to read it",
		Doc:    "Older formats can always be read; a newer one only by the version that writes it, or a later one.",
	},
	{
		Example: FileEmpty{}, Severity: Warning,
		Text:   "is empty: the run just started, or was killed before it wrote anything",
		Advice: removeIfDone,
		Doc:    "The file is empty: nothing was measured.",
	},
	{
		Example: HeaderTorn{}, Severity: Warning,
		Text:   "its first line is incomplete: the run just started, or was killed before its first point",
		Advice: removeIfDone,
		Doc:    "The file ends within the line that describes the run, so that nothing was measured.",
	},
	{
		Example: TornLine{}, Severity: Warning,
		Text: "the last line is incomplete and skipped: the run is still writing, or was killed while it wrote",
		Doc:  "Lines before it are whole: each is written and flushed before the next point is measured.",
	},
	{
		Example: ZeroBytes{}, Severity: Warning,
		Text:   "a line of zero bytes is skipped: probably left by a crash of the host",
		Advice: damagedFile,
		Doc:    "A file system may have reserved space for a line and lost what was written to it.",
	},
	{
		Example: BrokenLine{"no status", 0}, Severity: Warning,
		Text:   "a line is skipped: {Problem}[ (at byte {Byte})]",
		Advice: damagedFile,
		Doc:    "The line is not a complete JSON object, or lacks a required field. All other lines are read.",
	},
	{
		Example: BrokenLines{50, 70}, Severity: Warning,
		Text:   "{More more line} cannot be read, {All} in total: the file is damaged",
		Advice: damagedFile,
		Doc:    "Only the first lines that cannot be read are reported one by one.",
	},
	{
		Example: UnknownLine{"histogram"}, Severity: Warning,
		Text:   "a line of kind {Kind} is skipped: unknown in such a run",
		Advice: "update busbar to read it",
		Doc:    "A newer version of busbar wrote the file, or lines of another run are in it.",
	},
	{
		Example: SecondRun{}, Severity: Warning,
		Text:   "a second run begins here and is skipped: a results file has one run",
		Advice: "keep each results file as rank wrote it; all commands read folders of files",
		Doc:    "Files were probably concatenated.",
	},
	{
		Example: NoPoints{Ending{"interrupted", Kept{RunSignalled{Signal: "SIGTERM"}}}}, Severity: Warning,
		Text: "holds no points: {Ending}",
		Doc:  "The run was described, and ended before its first point.",
	},
	{
		Example: PartOfRun{Ending{"interrupted", Kept{RunSignalled{Signal: "SIGTERM"}}}, 12, 40}, Severity: Warning,
		Text:   "{Ending}; {Records record} read[, of {Points point} planned]",
		Advice: "continue it with rank --resume, with the same --out",
		Doc:    "All points that the run reached are valid.",
	},
	{
		Example: ResumedRunMissing{"0b5c4f1e-0000-4000-8000-000000000000"}, Severity: Warning,
		Text:   "continues run {Run}, which was not read: its points are missing",
		Advice: "name the folder that has both files",
		Doc:    "rank --resume measures only what the runs before it have not measured.",
	},
	{
		Example: RecordsCopied{12}, Severity: Info,
		Text: "{Records record} also in another file of the same run (a copy): counted once",
		Doc:  "A copy of a results file was read together with the file itself.",
	},
	{
		Example: RecordsReplaced{2}, Severity: Info,
		Text: "{Records record} not ok, replaced by those of a run that --resume connects with this one",
		Doc: `Along a chain of resumed runs a point that is ok replaces one that is not. Points with wrong data are
			never replaced.`,
	},
	{
		Example: LaunchesDiffer{"NCCL_ALGO", []string{"Ring", "unset"}}, Severity: Warning,
		Text:   "launches that count as repetitions differ in {Variable} ({Values})",
		Advice: "name configurations that differ with rank --variant NAME",
		Doc: `Launches of one backend, world and variant are combined. The variables are those that change the speed of
			a library.`,
	},
	{
		Example: StepsSkipped{2}, Severity: Info,
		Text:   "{Files file} of training steps skipped",
		Advice: "use post show, plot, report, merge or compare for them",
		Doc:    "The command has output for collectives only.",
	},
	{
		Example: PointsSkipped{12, Lack{LacksWorld, ""}}, Severity: Warning,
		Text: "{Points point} left out: {Lack}",
		Doc:  "Points are compared and plotted only where collective, number of ranks, mode and size are recorded.",
	},
	{
		Example: NotInNCCLTests{12, 3}, Severity: Info,
		Text: `left out, not in the layout of nccl-tests[: {Latency point} of latency mode][; {Others point} of other
			operations, or without collective, size or mode]`,
		Doc: "The layout of nccl-tests has rows of throughput mode only.",
	},
	{
		Example: NotAnonymized{}, Severity: Warning,
		Text: "the file is not text, and was left out",
		Doc: "post anonymize replaces names in text files, also compressed with gzip. Other files " +
			"could hold names.",
	},
	{
		Example: NothingOfNCCL{3}, Severity: Info,
		Text: "{Files file} without a message of NCCL skipped",
		Doc:  "Folders are searched for logs of NCCL; other files in them are skipped.",
	},
}

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
