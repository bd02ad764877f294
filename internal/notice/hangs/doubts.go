package hangs

import (
	"busbar/internal/notice"
	"busbar/internal/units"
)

// NoDump is that ranks left nothing.
type NoDump struct {
	Ranks Ranks `json:"ranks"`
}

// RingLost is that the ring of ranks does not reach back far enough.
type RingLost NoDump

// StaleDump is a dump that was taken before the others: they completed what it lacks.
type StaleDump NoDump

// RetiredUnknown is that Gloo retires failed operations, too.
type RetiredUnknown NoDump

// MostMissing is that most ranks did not enter.
type MostMissing struct {
	Entered Ranks `json:"entered"`
}

// EnteredLate is that a rank entered long after the others.
type EnteredLate struct {
	Rank int           `json:"rank"`
	By   units.Seconds `json:"by_s"`
}

// OneSnapshot is that a difference of counts may be that of a running job.
type OneSnapshot struct{}

// CountsUnlisted is that RAS lists too few ranks to name the others.
type CountsUnlisted struct {
	Communicator string `json:"communicator"`
}

// Consequence is another group that waits.
type Consequence Entered

// Independent is another group that waits for other ranks.
type Independent Entered

// QueuedBehind is that the kernel started on some ranks only.
type QueuedBehind struct {
	Started   Ranks `json:"started"`
	Scheduled Ranks `json:"scheduled"`
}

// CompletedBy is that some ranks completed what others wait in.
type CompletedBy NoDump

// MembersUnknown is that no dump has the members of the group.
type MembersUnknown struct{}

// EvenSplit is that no side is in the minority.
type EvenSplit struct{}

// MinorityOnly is that a minority is no proof.
type MinorityOnly struct{}

// DumpsOfRank is that a rank has several dumps of different processes.
type DumpsOfRank struct {
	Rank int    `json:"rank"`
	Kept string `json:"kept"`
}

// RankTwice is that two processes that ran at the same time have dumps of one rank.
type RankTwice struct {
	Rank  int    `json:"rank"`
	Other string `json:"other"`
}

// DumpOfOtherRun is a dump of an earlier run, or of another job.
type DumpOfOtherRun struct{}

// DumpWithoutRank is a dump whose file name has no rank.
type DumpWithoutRank struct{}

func (NoDump) Code() Code          { return "rank-without-evidence" }
func (RingLost) Code() Code        { return "ring-overwritten" }
func (StaleDump) Code() Code       { return "dump-too-early" }
func (RetiredUnknown) Code() Code  { return "retired-or-failed" }
func (MostMissing) Code() Code     { return "most-ranks-missing" }
func (EnteredLate) Code() Code     { return "entered-late" }
func (OneSnapshot) Code() Code     { return "one-snapshot" }
func (CountsUnlisted) Code() Code  { return "ras-counts-unlisted" }
func (Consequence) Code() Code     { return "hang-consequence" }
func (Independent) Code() Code     { return "hang-elsewhere" }
func (QueuedBehind) Code() Code    { return "kernel-not-started" }
func (CompletedBy) Code() Code     { return "completed-by-some" }
func (MembersUnknown) Code() Code  { return "group-members-unknown" }
func (EvenSplit) Code() Code       { return "even-split" }
func (MinorityOnly) Code() Code    { return "minority-only" }
func (DumpsOfRank) Code() Code     { return "dumps-of-one-rank" }
func (RankTwice) Code() Code       { return "rank-of-two-processes" }
func (DumpOfOtherRun) Code() Code  { return "dump-of-other-run" }
func (DumpWithoutRank) Code() Code { return "dump-without-rank" }

// doubts are warnings.
var doubts = []notice.Entry{
	{
		Example: NoDump{Ranks{2}},
		Text:    "{Ranks} left neither a dump nor a line that shows how far it got",
		Doc:     "An absent dump is no evidence: a rank that is blocked in teardown, or killed, writes none.",
	},
	{
		Example: RingLost{Ranks{2}},
		Text:    "the Flight Recorder of {Ranks} lost the calls in question: its ring was overwritten",
		Advice:  "set TORCH_FR_BUFFER_SIZE to a larger number",
		Doc:     "The first record of the dump is not number 0. What precedes it is unknown, not missing.",
	},
	{
		Example: StaleDump{Ranks{2}},
		Text:    "the dump of {Ranks} was taken too early: the others completed later collectives that require it",
		Doc:     "Such a dump does not show that the rank is missing, and is not used.",
	},
	{
		Example: RetiredUnknown{Ranks{0, 3}},
		Text:    "the last collective of {Ranks} may have failed: Gloo retires failed operations, too",
		Doc:     "A dump that was taken after the failure shows the failed operation as ended.",
	},
	{
		Example: MostMissing{Ranks{0}},
		Text:    "most ranks are missing: {Entered} may have made a call too many instead",
		Doc:     "A collective under a condition that only few ranks meet looks the same.",
	},
	{
		Example: EnteredLate{2, 14},
		Text:    "rank {Rank} entered {By} after the others, later than they wait",
		Doc: `The difference to the previous collectives counts, so that clocks of hosts may differ. The call may be the
			rank's next one, which has the number of the one that the others gave up.`,
	},
	{
		Example: OneSnapshot{},
		Text:    "counts of one snapshot differ in a running job, too",
		Advice:  "run ncclras twice, ten seconds apart: only counts that do not change prove a hang",
		Doc:     "RAS collects the counts of ranks at slightly different times.",
	},
	{
		Example: CountsUnlisted{"0x1234"},
		Text:    "RAS lists too few ranks of communicator {Communicator} to name the others",
		Advice:  "run ncclras -v, or with -f json",
		Doc:     "ncclras lists the ranks of small groups only.",
	},
	{
		Example: Independent{Ranks{0, 2}, exampleGroup},
		Text:    "{Ranks} in {Call} wait, too",
		Doc:     "Nothing shows which of the hangs came first.",
	},
	{
		Example: QueuedBehind{Ranks{0}, Ranks{1}},
		Text:    "the kernel started on {Started} and not on {Scheduled}: it may wait behind another stream there",
		Doc:     "All ranks called the collective, and its kernel did not start on all GPUs.",
	},
	{
		Example: CompletedBy{Ranks{0}},
		Text:    "{Ranks} completed it",
		Doc:     "Dumps of different times look like this, and so do collectives with a root.",
	},
	{
		Example: MembersUnknown{},
		Text:    "the members of the group are unknown: ranks without evidence may belong to it",
		Doc:     "Only dumps have the members of groups.",
	},
	{
		Example: EvenSplit{},
		Text:    "no side is in the minority",
		Doc:     "With as many ranks on each side, nothing shows which of them is wrong.",
	},
	{
		Example: DumpsOfRank{3, "b/trace_3"},
		Text:    "not used: another process also wrote a dump of rank {Rank}, {Kept}, which is newer",
		Advice:  "name the folder of one run; give each host a prefix of its own only if ranks are global",
		Doc:     "A dump holds no rank: the number at the end of its name is the rank.",
	},
	{
		Example: RankTwice{3, "a/trace_3"},
		Text:    "no dump is used: {Other} is of rank {Rank}, too, and of another process that ran at the same time",
		Advice:  "name dumps by global rank, and give only files of one job",
		Doc:     "The numbers at the end of the names are then local ranks, or the dumps are of two jobs.",
	},
	{
		Example: DumpOfOtherRun{},
		Text:    "not used: the dump is of an earlier run, or of another job",
		Advice:  "name the folder of one run",
		Doc:     "Its times do not overlap those of the newest run, or its world has other ranks.",
	},
	{
		Example: DumpWithoutRank{},
		Text:    "not used: the name of the dump does not end in a rank",
		Doc:     "A dump holds no rank: the number at the end of its name is the rank.",
	},
}
