// Package hangs has the notices on hung and dead jobs: verdicts, their evidence, and what contradicts it.
package hangs

import (
	_ "embed" // for catalogue.txt

	"busbar/internal/notice"
)

//go:embed catalogue.txt
var catalogue string

func init() {
	notice.Register(catalogue,
		RankMissing{}, CollectiveMismatch{}, SizeMismatch{}, RankDied{}, AllWaiting{}, NoHang{}, InsufficientEvidence{},
		Entered{}, LastCall{}, NoCall{}, Called{}, TimedOut{}, Progress{}, PeerClosed{}, ProcessEnded{}, TaskEnded{},
		SilentEnd{}, SizeRefused{}, BarrierMissed{}, StackAt{}, RASCounts{}, RASUnlisted{}, RASLost{}, WatchdogStuck{},
		Skipped{}, Consequence{}, MinorityOnly{}, NoDump{}, RingLost{}, StaleDump{}, RetiredUnknown{}, MostMissing{},
		EnteredLate{}, OneSnapshot{}, CountsUnlisted{}, Independent{}, QueuedBehind{}, CompletedBy{}, MembersUnknown{},
		EvenSplit{}, DumpsOfRank{}, RankTwice{}, DumpOfOtherRun{}, DumpWithoutRank{})
}
