package hangs

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
	Extra bool  `json:"extra"`
}
