// Package result holds what a run leaves behind: the records, their file, the text view, and merging.
//
// A file is one JSON object per line: a Run, its Ranks, one Record per measured point and mode, then an End.
// docs/file-format.md describes every field; a test keeps the two together. The package draws no picture and
// does no statistics of its own beyond choosing among records.
package result

import (
	"strconv"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// Schema is the number of the file format; fields may be added under the same number, never reused.
const Schema = 1

// The kinds of lines.
const (
	KindRun  = "run"
	KindRank = "rank"
	KindCase = "case"
	KindEnd  = "end"
)

// Run is the first line of a file: what was run, where, and with what. One launch writes one Run per world and
// backend; they share Launch. Launches that belong together share Campaign. It has many fields because each is one fact
// of the run that a reader needs.
type Run struct {
	Kind     string `json:"kind"` // KindRun
	Schema   int    `json:"schema"`
	ID       string `json:"id"`       // UUID version 7
	Launch   string `json:"launch"`   // UUID of the launch (one mpirun or srun)
	Campaign string `json:"campaign"` // UUID of the campaign; a launch alone is a campaign of one
	// of a campaign: launches of one block were taken in turn, and are compared as pairs
	Block string `json:"block,omitempty"`
	// backends that were measured case by case in turn, this one among them
	Interleaved []string  `json:"interleaved,omitempty"`
	Resumes     []string  `json:"resumes,omitempty"` // IDs of the runs that this one continues
	Start       time.Time `json:"start,omitzero"`    // UTC; zero only where another tool's file lacks it
	Tool        string    `json:"tool"`              // "busbar VERSION"
	Build       string    `json:"build"`             // identity of the binary, equal on all ranks
	Command     []string  `json:"command"`

	Backend  Backend `json:"backend"`
	Rehearse bool    `json:"rehearsed,omitempty"` // no real device: no value of this run is about hardware
	Variant  string  `json:"variant,omitempty"`   // label of a tuning variant within a campaign
	MPI      MPI     `json:"mpi,omitzero"`

	// ranks; like nodes and device, 0 only where another tool's file lacks it
	World        int    `json:"world,omitzero"`
	Worlds       []int  `json:"worlds,omitempty"` // of the launch, each with files of its own, where it has several
	Nodes        int    `json:"nodes,omitzero"`
	RanksPerNode int    `json:"ranks_per_node,omitzero"` // the largest, where nodes differ
	Device       string `json:"device,omitempty"`        // "cpu (MODEL)" or a GPU's name

	Pattern *Pattern `json:"pattern,omitempty"` // nil: the whole world measured every point
	Step    *Step    `json:"step,omitempty"`    // nil: collectives were measured, not training steps

	Sweep   Sweep   `json:"sweep,omitzero"`
	Method  Method  `json:"method,omitzero"`
	Machine Machine `json:"machine,omitzero"` // rank 0's host before the run

	Setup []Setup `json:"setup,omitempty"` // what was done once for this world

	Environment map[string]string `json:"environment,omitempty"` // allow-listed variables of rank 0
	Slurm       map[string]string `json:"slurm,omitempty"`       // Slurm's variables of rank 0
	Topology    string            `json:"topology,omitempty"`
	Hardware    *Hardware         `json:"hardware,omitempty"` // nil: nothing is known of it
	Warnings    notice.List       `json:"notices,omitempty"`
	Older       []string          `json:"warnings,omitempty"` // sentences of older versions; Warnings once read

	Imported *Source `json:"imported,omitempty"` // another tool measured this; nil: rank did
}

// PairedBy is what times of different libraries and settings share that are compared as a pair: the launch, or in a
// campaign the block, whose launches were taken in turn on the same nodes. One that was interrupted and went on as
// another launch is one there.
func (r *Run) PairedBy() string {
	if r.Block != "" {
		return r.Campaign + " " + r.Block
	}
	return r.Launch
}

// Setup is something that was done once before the first case, such as making a communicator.
type Setup struct {
	What    string  `json:"what"`
	Seconds float64 `json:"s"` // on the rank that took longest
}

// Backend identifies the library that was measured.
type Backend struct {
	Name    string   `json:"name"`    // mpi, gloo, nccl, ncclx, nccl-rehearsal
	Library string   `json:"library"` // what the library calls itself, in a line: "Open MPI 4.1.4"
	Version string   `json:"version"`
	Path    string   `json:"path"`
	BuildID string   `json:"build_id,omitempty"`
	Notes   []string `json:"notes,omitempty"` // how something is done that users may take for granted

	Parameters map[string]string `json:"parameters,omitempty"` // the library's own, as it reports them
}

// MPI identifies the MPI that carries the world.
type MPI struct {
	Family      string `json:"family"`       // openmpi, mpich
	Library     string `json:"library"`      // first line of MPI_Get_library_version
	Standard    string `json:"standard"`     // "3.1"
	Path        string `json:"path"`         // of libmpi
	Shim        string `json:"shim"`         // of our shim
	ThreadLevel string `json:"thread_level"` // granted: single, funneled, serialized, multiple
	LargeCounts string `json:"large_counts"` // "native" (_c functions) or "parts"
	Launcher    string `json:"launcher"`     // mpirun (Open MPI), srun, …; "none" for a singleton
}

// Sweep is what was planned and where each part of the plan came from.
type Sweep struct {
	Name    string            `json:"name"`             // quick, profile, …, or the file's name
	Source  string            `json:"source,omitempty"` // the YAML text as read
	Origins map[string]string `json:"origins,omitempty"`
	Points  int               `json:"points"` // planned records
}

// Method is how values are taken in this run. It has many fields because each is one choice that makes values of two
// runs comparable or not.
type Method struct {
	Clock           string  `json:"clock"`                  // CLOCK_MONOTONIC_RAW
	ClockResolution float64 `json:"clock_resolution_s"`     // s
	ClockCost       float64 `json:"clock_cost_s"`           // s, one reading
	EventStep       float64 `json:"event_step_s,omitempty"` // s, of a device's events; 0: none were asked for
	EmptyIteration  float64 `json:"empty_iteration_s"`      // s, the loop around an operation that does nothing
	ClockOffsets    float64 `json:"clock_offset_uncertainty_s"`
	Precision       float64 `json:"precision"` // wanted half width of the interval, relative
	Budget          float64 `json:"budget_s"`  // s, a case
	Iterations      int     `json:"iterations,omitempty"`
	Warmup          int     `json:"warmup_iterations"`
	Aggregate       int     `json:"aggregate,omitempty"` // operations per issue (-m)
	CheckRounds     int     `json:"check_rounds"`
	// whose time throughput uses: "max over ranks", mean, min; "rank 0"
	Average  string  `json:"average"`
	Alloc    string  `json:"alloc,omitempty"`    // who allocates a GPU's buffers: driver, nccl
	Register string  `json:"register,omitempty"` // how buffers are registered: buffer, window
	Config   string  `json:"config,omitempty"`   // what is passed to the library beyond its defaults
	Shared   bool    `json:"shared_gpu,omitempty"`
	Graph    int     `json:"graph,omitempty"`         // operations of a CUDA graph, each issue a launch of it (-G)
	Rotate   int64   `json:"rotate_bytes"`            // span over which buffers rotate; 0: one place, warm caches
	Packed   bool    `json:"rotate_packed,omitempty"` // the places follow each other without gaps, as in nccl-tests
	Cycle    int     `json:"cycles,omitempty"`        // -N
	Deadline float64 `json:"deadline_s"`              // s, watchdog
}

// Hardware is the peak rates of the links of a run, for comparison with measured values.
type Hardware struct {
	Ports []Port `json:"ports,omitempty"` // of rank 0's host: those that are up and whose rate is known
	PCIe  *PCIe  `json:"pcie,omitempty"`  // of the GPU whose link is the slowest among all ranks'
}

// Port is an RDMA port or a network interface with hardware of its own.
type Port struct {
	Name string  `json:"name"`           // as in NetUse
	Link string  `json:"link,omitempty"` // of an RDMA port: InfiniBand, Ethernet, EFA; "" if unknown
	Rate float64 `json:"rate_Gbps"`      // 1e9 bits per second in each direction, as the driver states it
}

// PCIe is the link of a GPU.
type PCIe struct {
	Rank int `json:"rank"` // whose GPU it is
	// 1e9 transfers per second of a lane, the maximum of GPU and slot; an idle link runs slower
	Speed float64 `json:"speed_GTps"`
	Width int     `json:"width"` // lanes in use
	Lanes int     `json:"lanes"` // lanes that GPU and slot have
}

// Machine is what is known of a host.
type Machine struct {
	Host      string  `json:"host"`
	OS        string  `json:"os,omitempty"`
	Kernel    string  `json:"kernel,omitempty"`
	CPU       string  `json:"cpu,omitempty"`
	Cores     int     `json:"cores,omitempty"` // usable by this process
	Governor  string  `json:"governor,omitempty"`
	MemoryB   int64   `json:"memory_bytes,omitempty"`
	Load1     float64 `json:"load1"`
	Container string  `json:"container,omitempty"`
}

// Rank is one line per rank, after the Run.
type Rank struct {
	Kind      string `json:"kind"` // KindRank
	Rank      int    `json:"rank"`
	Host      string `json:"host"`
	LocalRank int    `json:"local_rank"`
	PID       int    `json:"pid"`
	CPUs      string `json:"cpus,omitempty"` // affinity as a list, "0-3,8"
	Device    string `json:"device,omitempty"`
	PCI       string `json:"pci,omitempty"`
	UUID      string `json:"uuid,omitempty"`
	State     *GPU   `json:"state,omitempty"` // of the device before the first case
}

// GPU is the state of a device, as its driver reports it; -1 and "" are unknown.
type GPU struct {
	SMClock     int      `json:"sm_clock_MHz"`
	MemoryClock int      `json:"memory_clock_MHz"`
	Temperature int      `json:"temperature_C"`
	Power       float64  `json:"power_W"`
	Throttle    []string `json:"throttle,omitempty"` // why the clocks are held back
	ECC         string   `json:"ecc,omitempty"`      // on, off
	ECCErrors   int64    `json:"ecc_errors"`         // not corrected, since the driver started
	Persistence string   `json:"persistence,omitempty"`
}

// Throttled is a rank whose device held back its clocks.
type Throttled struct {
	Rank    int      `json:"rank"`
	Host    string   `json:"host"`
	Reasons []string `json:"reasons"`
}

// Status is the outcome of a point.
type Status string

// The statuses. OK alone has a time.
const (
	OK          Status = "ok"
	Skipped     Status = "skipped"     // by plan: world or memory too small, size too small, time over
	Unsupported Status = "unsupported" // the library does not have it
	OOM         Status = "oom"
	Timeout     Status = "timeout"
	Wrong       Status = "wrong"
	Failed      Status = "failed"
	// of a training step alone, and never written: its run was cut off between its rounds
	Unfinished Status = "unfinished"
)

// Record is one measured (or not measured) point in one mode. It has many fields because each is one fact of the point
// that a reader needs.
type Record struct {
	Kind string `json:"kind"`        // KindCase
	N    int    `json:"n"`           // number within the run, from 1
	Run  string `json:"-"`           // ID of the run; filled by readers
	At   string `json:"at,omitzero"` // UTC, RFC 3339 with milliseconds, when the record was made
	coll.Case
	Cycle int    `json:"cycle,omitempty"` // of -N, from 1 when there are several
	Group *Group `json:"group,omitempty"` // which nodes measured it; nil: all of the world
	// of the ranks that measured it, if they are a group of a divided world (Groups); 0: those of the run
	Nodes        int `json:"nodes,omitempty"`
	RanksPerNode int `json:"ranks_per_node,omitempty"` // the maximum

	Status Status `json:"status"`
	Why
	// Size of the alltoallv of equal parts with the same volume; 0 for all other cases.
	EvenBytes int64 `json:"even_bytes,omitempty"`
	Needed    int64 `json:"needed_bytes,omitempty"` // memory a rank needed, for skipped and oom

	Time *Time `json:"time,omitempty"` // nil unless ok (or wrong: figures of wrong data are kept, never drawn)

	Check   Check    `json:"check"`
	Ranks   *Ranks   `json:"ranks,omitempty"`
	Network []NetUse `json:"network,omitempty"` // what moved on ports and interfaces of rank 0's host
	// s: the first operation of this collective in this world, connections included
	FirstUse float64     `json:"first_use_s,omitempty"`
	Path     *Path       `json:"path,omitempty"`  // the library's algorithm; nil if it reports none
	Load1    float64     `json:"load1,omitempty"` // load average of rank 0's host after the case
	Notes    []string    `json:"notes,omitempty"` // how it was done: "avg = sum and a scaling by this tool"
	Warnings notice.List `json:"notices,omitempty"`
	Older    []string    `json:"warnings,omitempty"` // sentences of older versions; Warnings once read

	Imported *Origin `json:"imported,omitempty"` // where another tool's file has it; nil: rank measured it
}

// Why is why a point is not ok, or why a run ended early.
type Why struct {
	Reason string      `json:"reason,omitempty"` // the text of Cause; of older versions alone
	Cause  notice.Kept `json:"cause,omitzero"`
}

// Because is the reason that a fact states; empty of none.
func Because(f notice.Fact) Why { return Why{notice.Reason(f), notice.Kept{Fact: f}} }

// Fact is what the reason states; nil of none.
func (w Why) Fact() notice.Fact {
	if w.Cause.Fact == nil && w.Reason != "" {
		return notice.FromText(w.Reason)
	}
	return w.Cause.Fact
}

// adopt makes a fact of the sentence of an older version, and gives a fact the text of this one.
func (w *Why) adopt() {
	switch w.Cause.Fact.(type) {
	case nil:
		w.Cause.Fact = w.Fact()
	case notice.Unknown: // of a newer version, whose text is better
	default:
		w.Reason = w.Cause.String()
	}
}

// Timed reports whether a record has valid values: those of wrong data are not for tables that others compute from.
func (r *Record) Timed() bool { return r.Status == OK && r.Time != nil }

// OfGroup reports whether only a group of the ranks or nodes of the run measured the record.
func (r *Record) OfGroup() bool { return r.Group != nil || r.Groups.Divided() }

// Path is which way the library took, in its own words.
type Path struct {
	Algorithm string `json:"algorithm,omitempty"` // "" for what goes from rank to rank, which has none
	Protocol  string `json:"protocol,omitempty"`
	Channels  int    `json:"channels,omitempty"`
	AtMost    bool   `json:"channels_at_most,omitempty"` // the library may have used fewer
}

// String is "RING LL128, 16 channels", "at most 8 channels", "not reported".
func (p *Path) String() string {
	if p == nil || *p == (Path{}) {
		return "not reported"
	}
	words := strings.TrimSpace(p.Algorithm + " " + p.Protocol)
	if p.Channels == 0 {
		return words
	}
	if words != "" {
		words += ", "
	}
	if p.AtMost {
		words += "at most "
	}
	words += strconv.Itoa(p.Channels) + " channel"
	if p.Channels > 1 {
		words += "s"
	}
	return words
}

// How rank makes one time of those of all ranks, in Time.Sync and Time.Summary.
const (
	SyncBarrier     = "barrier of the world"
	MedianOfSlowest = "max over ranks per iteration, median over iterations"
	MedianToLastEnd = "first start to last end per iteration, median over iterations"
	MedianOfBatches = " per batch, median over batches" // behind what is averaged
)

// Time summarises the time of one operation, in seconds. Bandwidths are derived from Seconds, never averaged. It has
// many fields because each is one statistic of the same samples.
type Time struct {
	// median of iterations (latency) or of batches' time/operations (throughput)
	Seconds float64 `json:"s"`
	Lo      float64 `json:"lo_s,omitempty"` // 95 % CI of the median; 0 without one
	Hi      float64 `json:"hi_s,omitempty"` //
	// like the fields below, absent only where another tool's file lacks it
	Min        float64 `json:"min_s,omitempty"`
	P90        float64 `json:"p90_s,omitempty"`      // 0 where samples are too few to claim it
	P99        float64 `json:"p99_s,omitempty"`      //
	Max        float64 `json:"max_s,omitempty"`      //
	Mean       float64 `json:"mean_s,omitempty"`     // kept for comparison with tools that print it
	Samples    int     `json:"samples,omitempty"`    // iterations (latency) or batches (throughput)
	Iterations int     `json:"iterations,omitempty"` // timed operations in all
	Batch      int     `json:"batch,omitempty"`      // operations per batch (throughput)
	Outliers   int     `json:"outliers"`             // samples outside Tukey's fences; none is dropped; -1: not known
	AutoCorr   float64 `json:"autocorrelation,omitempty"`
	Stop       string  `json:"stop,omitempty"`    // what ended it: precision, settled, budget, maximum, fixed
	Sync       string  `json:"sync,omitempty"`    // how ranks were synchronised
	Summary    string  `json:"summary,omitempty"` // how times of ranks became one
	Elapsed    float64 `json:"elapsed_s,omitempty"`
	Event      *Event  `json:"event,omitempty"`
}

// Event summarises the time of one operation by the device's own clock: of each iteration or batch the maximum over the
// ranks, in seconds.
type Event struct {
	Seconds float64 `json:"s"`              // median
	Lo      float64 `json:"lo_s,omitempty"` // 95 % CI of the median; 0 without one
	Hi      float64 `json:"hi_s,omitempty"`
	Min     float64 `json:"min_s"`
	Max     float64 `json:"max_s"`
}

// Check is the result of verifying the data.
type Check struct {
	Result   string  `json:"result"` // "ok", "wrong", "off" (not asked for), "none" (nothing was run), "unknown"
	Rounds   int     `json:"rounds,omitempty"`
	Elements int64   `json:"elements,omitempty"` // compared on all ranks together
	Wrong    int64   `json:"wrong,omitempty"`
	Way      string  `json:"way,omitempty"` // how data was filled and compared
	Seconds  float64 `json:"s,omitempty"`   // s, that it took on the slowest rank
	First    *Wrong1 `json:"first,omitempty"`
}

// Wrong1 is the first wrong element of the lowest rank that has one.
type Wrong1 struct {
	Rank  int    `json:"rank"`
	Host  string `json:"host"`
	Index int64  `json:"index"` // in the rank's output
	Want  string `json:"want"`
	Got   string `json:"got"`
}

// Ranks summarises every rank's own times. Durations do not show stragglers of a synchronising collective: Slowest is
// the rank with the longest median, Latest the last to issue.
type Ranks struct {
	Slowest     int     `json:"slowest"`
	SlowestHost string  `json:"slowest_host"`
	SlowestS    float64 `json:"slowest_s"`

	Latest      int     `json:"latest"` // -1: nothing is claimed (one rank, or below the uncertainty)
	LatestHost  string  `json:"latest_host,omitempty"`
	Lateness    float64 `json:"lateness_s"`             // s, median delay of Latest's issue to the first rank's
	Uncertainty float64 `json:"lateness_uncertainty_s"` // s

	Median  []float64 `json:"median_s,omitempty"` // by rank, up to MaxInlineRanks ranks
	Late    []float64 `json:"late_s,omitempty"`   // by rank, likewise
	Spread  []float64 `json:"spread_s,omitempty"` // above: min, p25, median, p75, max of the ranks' medians
	Worst   []RankS   `json:"worst,omitempty"`    // above: the eight slowest; all of them are in the sidecar
	Sidecar string    `json:"sidecar,omitempty"`  // file name beside this one
}

// RankS is one rank's median time.
type RankS struct {
	Rank int     `json:"rank"`
	Host string  `json:"host"`
	S    float64 `json:"s"`
	Late float64 `json:"late_s"`
}

// MaxInlineRanks is the maximum world size for which each record lists all ranks.
const MaxInlineRanks = 64

// NetUse is the change of one port's or interface's counters over a case.
type NetUse struct {
	Name        string `json:"name"` // "eth0", "mlx5_0/1"
	RxBytes     int64  `json:"rx_bytes"`
	TxBytes     int64  `json:"tx_bytes"`
	Errors      int64  `json:"errors,omitempty"` // errors and drops
	Retransmits int64  `json:"retransmits,omitempty"`
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Complete    Outcome = "complete"
	Interrupted Outcome = "interrupted"
	Aborted     Outcome = "aborted" // a hang, a dead rank, a failing library
)

// End is the last line of a run that could still write one.
type End struct {
	Kind    string    `json:"kind"` // KindEnd
	At      time.Time `json:"at,omitzero"`
	Outcome Outcome   `json:"outcome"`
	Why
	Code   int            `json:"code"` // the exit code that rank 0 means to give
	Points map[Status]int `json:"points"`
	Left   int            `json:"left,omitempty"` // planned points without a record
	Load1  float64        `json:"load1,omitempty"`

	Throttled []Throttled `json:"throttled,omitempty"` // devices that hold back their clocks after the last case
}
