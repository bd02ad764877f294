package hangs

import (
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
