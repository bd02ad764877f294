package hangs

import "busbar/internal/notice"

// Entered is that ranks entered a collective that did not finish.
type Entered struct {
	Ranks Ranks `json:"ranks"`
	Call  Call  `json:"call"`
}

// LastCall is the last collective of ranks that went no further.
type LastCall Entered

// NoCall is that ranks called nothing in the group.
type NoCall NoDump

// Called is what ranks called.
type Called struct {
	Ranks Ranks  `json:"ranks"`
	Call  Call   `json:"call"`
	From  string `json:"from,omitempty"` // function and line of the program
}

// TimedOut is that PyTorch or Gloo gave up on a collective.
type TimedOut struct {
	Ranks Ranks  `json:"ranks"`
	Text  string `json:"text"` // of the first
}

// Progress is how far the watchdog of a rank saw a group.
type Progress struct {
	Rank     int    `json:"rank"`
	Group    string `json:"group,omitempty"`
	Enqueued Number `json:"enqueued"`
	Finished Number `json:"completed"`
}

// PeerClosed is that ranks lost the connection to a peer.
type PeerClosed TimedOut

// ProcessEnded is a line that reports the end of a process.
type ProcessEnded struct {
	Rank int    `json:"rank"`
	How  Death  `json:"how"`
	Text string `json:"text"`
}

// TaskEnded is a line that reports the end of a task whose ranks are unknown.
type TaskEnded struct {
	Task string `json:"task"`
	How  Death  `json:"how"`
	Text string `json:"text"`
}

// SilentEnd is a log that ends without an error while others failed.
type SilentEnd struct {
	Rank int    `json:"rank"`
	Text string `json:"text"` // its last line
}

// SizeRefused is that Gloo received more bytes than it expected.
type SizeRefused struct {
	Rank     int   `json:"rank"`
	Received int64 `json:"received"`
	Expected int64 `json:"expected"`
}

// BarrierMissed is that ranks did not reach monitored_barrier.
type BarrierMissed TimedOut

// StackAt is where a rank was.
type StackAt struct {
	Rank     int    `json:"rank"`
	Function string `json:"function"`
	Place    string `json:"place"` // file:line
}

// RASCounts is how many calls of a collective NCCL's RAS counts.
type RASCounts struct {
	Communicator string `json:"communicator"`
	Operation    string `json:"operation"`
	Calls        int64  `json:"calls"`
	Ranks        Ranks  `json:"ranks"`
}

// RASUnlisted is RASCounts of ranks that RAS does not list.
type RASUnlisted struct {
	Communicator string `json:"communicator"`
	Operation    string `json:"operation"`
	Calls        int64  `json:"calls"`
	Ranks        int    `json:"ranks"` // how many
}

// RASLost is that NCCL's RAS misses ranks.
type RASLost struct {
	Communicator string `json:"communicator"`
	Ranks        Ranks  `json:"ranks"`
}

// WatchdogStuck is that the watchdog's own thread made no progress.
type WatchdogStuck TimedOut

// Skipped is that the calls of ranks match those that others make later, or earlier.
type Skipped struct {
	Ranks Ranks `json:"ranks"`
	Call  Call  `json:"call"`
	Calls int   `json:"calls"`
	Extra Extra `json:"extra"`
}

// Extra is that ranks made a call more; else they skipped one.
type Extra bool

func (e Extra) String() string {
	if e {
		return "made an additional"
	}
	return "skipped"
}

func (Entered) Code() Code       { return "collective-entered" }
func (LastCall) Code() Code      { return "last-collective" }
func (NoCall) Code() Code        { return "no-collective" }
func (Called) Code() Code        { return "collective-called" }
func (TimedOut) Code() Code      { return "collective-timed-out" }
func (Progress) Code() Code      { return "group-progress" }
func (PeerClosed) Code() Code    { return "peer-connection-closed" }
func (ProcessEnded) Code() Code  { return "process-ended" }
func (TaskEnded) Code() Code     { return "task-ended" }
func (SilentEnd) Code() Code     { return "log-ends-silently" }
func (SizeRefused) Code() Code   { return "gloo-size-refused" }
func (BarrierMissed) Code() Code { return "monitored-barrier-missed" }
func (StackAt) Code() Code       { return "rank-stack" }
func (RASCounts) Code() Code     { return "ras-operation-count" }
func (RASUnlisted) Code() Code   { return "ras-count-of-unlisted" }
func (RASLost) Code() Code       { return "ras-rank-lost" }
func (WatchdogStuck) Code() Code { return "watchdog-stuck" }
func (Skipped) Code() Code       { return "calls-shifted" }

// observed are for information, as are those of doubts that limit nothing.
var observed = []notice.Entry{
	{
		Example: Entered{Ranks{0, 1, 3}, exampleCall},
		Text:    "{Ranks} entered {Call} and did not complete it",
		Doc:     "Entries of the Flight Recorder that are neither completed nor retired, or that failed.",
	},
	{
		Example: LastCall{Ranks{2}, exampleCall},
		Text:    "{Ranks} went no further than {Call}",
		Doc:     "The last collective of the group in the rank's dump.",
	},
	{
		Example: NoCall{Ranks{2}},
		Text:    "{Ranks} called nothing in this group",
		Doc:     "The dump has the group and no collective of it, and its ring lost nothing.",
	},
	{
		Example: Called{Ranks{1}, exampleCall, "train_step (train.py:81)"},
		Text:    "{Ranks} called {Call}[, from {From}]",
		Doc:     "The entry of the Flight Recorder, or the watchdog's line.",
	},
	{
		Example: TimedOut{Ranks{0}, "Watchdog caught collective operation timeout"},
		Text:    "{Ranks}: {Text}",
		Doc:     "PyTorch's watchdog or Gloo reported a timeout.",
	},
	{
		Example: Progress{1, "default_pg", 6, 6},
		Text:    `rank {Rank}[ in group "{Group}"]: last enqueued {Enqueued}, last completed {Finished}`,
		Doc:     "What the watchdog of the rank printed about the group when it dumped.",
	},
	{
		Example: PeerClosed{Ranks{0}, "Connection closed by peer"},
		Text:    "{Ranks}: {Text}",
		Doc:     "A peer ended, or closed the connection after a failure of its own.",
	},
	{
		Example: ProcessEnded{3, Signal, "srun: error: node7: task 3: Killed"},
		Text:    "rank {Rank}: {How}: {Text}",
		Doc:     "A launcher, the kernel or Python reported the end of the process.",
	},
	{
		Example: TaskEnded{"task 1 on node7", Signal, "srun: error: node7: task 1: Killed"},
		Text:    "{Task}: {How}: {Text}",
		Doc:     "Slurm reported the end of a task. With torchrun, a task has several ranks.",
	},
	{
		Example: SilentEnd{3, "step 4"},
		Text:    "the log of rank {Rank} ends without an error: {Text}",
		Doc:     "Processes that the kernel kills leave an ordinary last line.",
	},
	{
		Example: SizeRefused{1, 512, 256},
		Text:    "rank {Rank} received {Received} bytes where {Expected} were expected",
		Doc:     "Gloo aborts the receiver of a chunk that does not fit. The sizes are those of a chunk.",
	},
	{
		Example: BarrierMissed{Ranks{4, 5}, "failed to pass monitoredBarrier"},
		Text:    "{Ranks} did not reach monitored_barrier: {Text}",
		Doc:     "Rank 0 lists the ranks that did not arrive in time.",
	},
	{
		Example: StackAt{2, "load_batch", "train.py:81"},
		Text:    "rank {Rank} was in {Place} ({Function}) when its stack was taken",
		Doc:     "The main thread in the output of py-spy or faulthandler. One sample is no proof.",
	},
	{
		Example: RASCounts{"0x1234", "AllReduce", 640, Ranks{0, 1}},
		Text:    "{Ranks} of communicator {Communicator} launched {Operation} {Calls time}",
		Doc:     "NCCL's RAS counts launches, not completions. The ranks are those of the communicator.",
	},
	{
		Example: RASUnlisted{"0x1234", "AllGather", 640, 16},
		Text:    "{Ranks rank} of communicator {Communicator} launched {Operation} {Calls time}",
		Doc:     "RAS lists the ranks of small groups only.",
	},
	{
		Example: RASLost{"0x1234", Ranks{21}},
		Text:    "NCCL's RAS has no data of {Ranks} of communicator {Communicator}",
		Doc:     "The process did not answer, or was unreachable for 60 s.",
	},
	{
		Example: WatchdogStuck{Ranks{0}, "watchdog got stuck for 480 seconds"},
		Text:    "{Ranks}: {Text}",
		Doc:     "A call of CUDA or NCCL, or Python's interpreter lock, blocks the watchdog's thread.",
	},
	{
		Example: Skipped{Ranks{1}, exampleCall, 3, false},
		Text:    "{Ranks} {Extra} {Call}: the next {Calls call} match those of the others one place further",
		Doc:     "A sequence that is shifted by one call shows a skipped or additional call, not a wrong one.",
	},
	{
		Example: Consequence{Ranks{0, 2}, exampleGroup},
		Text:    "{Ranks} in {Call} wait as a consequence",
		Doc:     "The rank that is missing there waits in the collective of the verdict.",
	},
	{
		Example: MinorityOnly{},
		Text:    "the minority is not proven to be wrong: check both values",
		Doc:     "Most ranks may have the wrong size.",
	},
}
