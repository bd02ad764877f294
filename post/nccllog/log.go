// Package nccllog reads what NCCL and its relatives report while they run: debug logs (NCCL_DEBUG) of NCCL 2.8 to 2.30,
// RCCL and NCCLX, behind launchers' prefixes; the Inspector's JSON lines; and what ncclras prints. It returns what was
// set up and used, what is wrong with it, and in what two logs differ.
package nccllog

import (
	"busbar/internal/coll"

	"busbar/internal/notice/nccllogs"
)

// Log is what was read of one run, from one file or several. Lists that name processes or communicators do so by
// index. It has many fields because each is one table of the JSON, and many methods because each rule that finds
// something is one.
type Log struct {
	Files   []File  `json:"files"`
	Reading Reading `json:"reading"`

	Versions      []Version      `json:"versions"` // of libraries; more than one where processes differ
	Driver        int            `json:"cuda_driver,omitempty"`
	Processes     []Process      `json:"processes"` // in the order in which they wrote first
	Settings      []Setting      `json:"settings"`  // by name, then value
	Communicators []Communicator `json:"communicators"`
	Network       Network        `json:"network"`
	Transports    []Transport    `json:"transports"` // by communicator, from, to
	Choices       []Choice       `json:"choices"`    // of algorithms and protocols, by collective, then bytes
	Predictions   []Prediction   `json:"predicted"`  // of NCCL's cost tables
	Calls         []Calls        `json:"calls"`      // by communicator, rank, collective, bytes
	Sequences     []Sequence     `json:"sequences"`  // whether ranks called the same, by communicator
	TimedOut      []TimedOut     `json:"timed_out,omitempty"`
	Messages      []Message      `json:"messages"` // warnings and errors, in the order in which they came first
	Inspected     []Inspected    `json:"inspector"`
	RAS           []RAS          `json:"ras"`
	Rows          []Row          `json:"rows"` // of nccl-tests, where its table is in the same file and whole
}

// Unknown is a number that is not in the log.
const Unknown = -1

// File is one file that was read.
type File struct {
	Path  string `json:"path"`
	Form  Form   `json:"form"`
	Lines int64  `json:"lines"`
	Cut   string `json:"cut,omitempty"` // why it ends early
}

// Form is the kind of a file.
type Form string

// The forms.
const (
	Debug         Form = "nccl-debug"
	InspectorJSON Form = "inspector-json"
	RASText       Form = "ras-text"
	RASJSON       Form = "ras-json"
)

// Reading is how much of the debug logs was understood.
type Reading struct {
	Said       int64 `json:"messages"`   // that have NCCL INFO, NCCL WARN and the like
	Understood int64 `json:"understood"` // of which facts were taken
	Damaged    int64 `json:"damaged"`    // cut by another message, or by the end of the file

	Warnings    int64 `json:"warnings"`    // warnings and errors, of the library and of the program around it
	Unexplained int64 `json:"unexplained"` // of them, whose cause is not known here
}

// Library is who wrote the log.
type Library string

// The libraries.
const (
	NCCL  Library = "NCCL"
	RCCL  Library = "RCCL"
	NCCLX Library = "NCCLX"
)

// Version is one library as it named itself.
type Version struct {
	Library   Library `json:"library"`
	Text      string  `json:"version"`        // "2.27.7", "2.30.3x-git-abc"
	Code      int     `json:"code,omitempty"` // 22707; 0: unknown
	CUDA      string  `json:"cuda,omitempty"` // that it was built with: "13.0"
	Git       string  `json:"git,omitempty"`
	Processes []int   `json:"processes"` // that printed it with a header
}

// Process is one process that wrote.
type Process struct {
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	Ranks []int  `json:"ranks"` // in the largest communicator it is in, ascending
}

// Setting is a variable, or a value of a configuration, that was set, and by whom.
type Setting struct {
	Name  string `json:"name"` // NCCL_P2P_DISABLE
	Value string `json:"value"`
	// "environment"; "NET/OFI" for what a plugin set; "config" for ncclConfig_t
	From      string `json:"from"`
	Said      string `json:"said"` // the first message, without its header
	Processes []int  `json:"processes"`
}

// Communicator is one communicator, of all its ranks that wrote. The same pointer in two processes is two
// communicators, unless their commId is one.
type Communicator struct {
	Name     string   `json:"name"`     // "comm 1": by first appearance
	ID       string   `json:"id"`       // commId, "0x54fe282d32a87d85"; "" before 2.18
	Ranks    int      `json:"ranks"`    // Unknown
	Nodes    int      `json:"nodes"`    // Unknown
	Function string   `json:"by"`       // "ncclCommInitRankConfig", "ncclCommSplit"; "" where it is not recorded
	Members  []Member `json:"members"`  // that wrote, by rank
	Channels Channels `json:"channels"` // of the first member that printed them
	Graphs   []Graph  `json:"graphs"`   // what the search over the topology found
	Topology Topology `json:"topology"` // as seen by the first member that printed it

	namesakes bool // nodes have the same host name, as containers have: names then do not identify nodes
}

// Member is one rank of a communicator.
type Member struct {
	Rank      int         `json:"rank"`
	Process   int         `json:"process"`
	Device    int         `json:"device"`    // CUDA's number; Unknown
	Bus       string      `json:"bus"`       // busId as written, "17000"
	Started   bool        `json:"started"`   // Init START was printed; never before 2.18
	Completed bool        `json:"completed"` // Init COMPLETE
	Destroyed bool        `json:"destroyed"`
	Aborted   bool        `json:"aborted"`
	Init      *InitTiming `json:"init"` // null: not recorded
}

// InitTiming is how long making a communicator took one rank, in seconds; Parts have NCCL's names: kernels, alloc,
// bootstrap, allgathers, topo, graphs, connections, rest.
type InitTiming struct {
	Total float64             `json:"total_s"`
	Parts []nccllogs.InitPart `json:"parts"`
}

// Channels are the numbers of channels; Unknown where a version does not print them.
type Channels struct {
	Coll    int `json:"coll"`
	NVLS    int `json:"nvls"`
	P2P     int `json:"p2p"`
	PerPeer int `json:"p2p_per_peer"`
}

// Graph is one result of the search over the topology: "Pattern 4, crossNic 0, nChannels 12, bw 20/20, type NVL/PIX".
type Graph struct {
	// as numbered: 4 ring, 1 balanced tree, 2 split tree, 3 tree, 5 NVLS, 6 collnet direct
	Pattern  string  `json:"pattern"`
	Channels int     `json:"channels"`
	BwIntra  float64 `json:"bw_intra_GBps"`
	BwInter  float64 `json:"bw_inter_GBps"`
	Intra    string  `json:"intra"` // LOC, NVL, PIX, PXB, PHB, SYS, …
	Inter    string  `json:"inter"`
}

// Topology is the content of "=== System" and the lines below it.
type Topology struct {
	GPUs    int    `json:"gpus"`
	NICs    int    `json:"nics"`
	NVLinks int    `json:"nvlinks"` // lines that name one
	File    string `json:"file"`    // the file it was loaded from
	Paths   []Path `json:"paths"`   // between GPUs, and from GPUs to NICs, counted by kind
}

// Path is how many pairs have a path of one kind.
type Path struct {
	Pair  string  `json:"pair"` // GPU-GPU, GPU-NET, GPU-CPU, …
	Type  string  `json:"type"` // NVL, PIX, PXB, PHB, SYS, …
	Bw    float64 `json:"bw_GBps"`
	Times int64   `json:"times"`
}

// Network is how nodes reach each other.
type Network struct {
	Using []Named `json:"using"` // "Using network AWS Libfabric"
	// loaded or assigned: "IB", "Libfabric", with the version of its interface if logged
	Plugins   []Named `json:"plugins"`
	Missing   []Named `json:"missing"`   // plugins looked for in vain: "libnccl-net.so"
	Providers []Named `json:"providers"` // of libfabric: "efa"
	IB        []Named `json:"ib"`        // devices: "mlx5_0:1/RoCE"
	Sockets   []Named `json:"sockets"`   // interfaces of NET/Socket: "eth0:10.0.92.140"
	Bootstrap []Named `json:"bootstrap"` // interface of the bootstrap (out of band)
	GDR       []GDR   `json:"gdr"`       // GPUDirect RDMA by device
	Tuners    []Named `json:"tuners"`
}

// Named is a name and who gave it.
type Named struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	Processes []int  `json:"processes"`
}

// GDR is whether one network device reads and writes GPU memory directly.
type GDR struct {
	Device    string `json:"device"` // "mlx5_0"
	Enabled   bool   `json:"enabled"`
	Said      string `json:"said"`
	Processes []int  `json:"processes"`
}

// Transport is how one rank reaches another.
type Transport struct {
	Comm     int    `json:"communicator"` // Unknown: the process has several that it may be of
	Process  int    `json:"process"`      // that wrote it, where the communicator is Unknown; else Unknown
	From     int    `json:"from"`
	To       int    `json:"to"`
	Via      string `json:"via"`        // as written: "NET/AWS Libfabric/1/GDRDMA"
	Kind     string `json:"kind"`       // p2p, shm, net, collnet
	How      string `json:"how"`        // CUMEM, IPC, direct pointer, MNNVL; direct, CE of shm; plugin of net
	NetDev   int    `json:"net_device"` // Unknown
	GDR      bool   `json:"gdr"`        // /GDRDMA
	PXN      int    `json:"pxn"`        // rank that it goes through, "NET/IB/0(3)"; Unknown
	Receive  bool   `json:"receive"`    // printed by the receiving end; else by the sender, or by either of p2p
	Channels []int  `json:"channels"`   // ascending; the first 64

	of *member
}

// Choice is which algorithm and protocol NCCL chose for a size.
type Choice struct {
	Comm  int             `json:"communicator"` // Unknown: tuning lines name none, and the device is in several
	Name  string          `json:"name"`         // "AllReduce", as written
	What  coll.Collective `json:"collective"`   // Other where it is none of ours
	Bytes int64           `json:"bytes"`        // as written
	Mean  string          `json:"bytes_are"`    // "total", "per rank", "unknown": see BytesMean
	// S as nccl-tests counts it; Unknown where ranks or meaning are not known
	Size     int64  `json:"size_bytes"`
	Algo     string `json:"algo"`     // RING, TREE, NVLS, …; "" where a kernel was named instead
	Proto    string `json:"proto"`    // LL, LL128, SIMPLE
	Kernel   string `json:"kernel"`   // of symmetric memory; "cudaMemcpy…" of the copy engine
	Channels int    `json:"channels"` // Unknown before 2.24
	Times    int64  `json:"times"`    // calls for which it was chosen

	ofAll bool // Bytes are of all ranks: algorithm and protocol were numbers, as from 2.20 to 2.23
	of    *member
}

// What Choice.Bytes are.
const (
	BytesTotal   = "total"    // over all ranks: 2.20 to 2.23
	BytesPerRank = "per rank" // of all-gather and reduce-scatter since 2.24: count × size of the type
	BytesUnknown = "unknown"  // the version is not known, and the collective is one where it matters
)

// Prediction is one cell of the cost tables printed at init: what NCCL's model expects of a collective.
type Prediction struct {
	Comm    int             `json:"communicator"` // Unknown
	Name    string          `json:"name"`
	What    coll.Collective `json:"collective"`
	Algo    string          `json:"algo"`
	Proto   string          `json:"proto"`
	Latency float64         `json:"latency_us"`
	Bw      float64         `json:"bw_GBps"` // algbw; 0: this algorithm is not for this collective

	of *member
}

// Calls are calls of one kind by one rank.
type Calls struct {
	Comm    int             `json:"communicator"` // Unknown
	Rank    int             `json:"rank"`         // Unknown
	Process int             `json:"process"`
	Name    string          `json:"name"` // "AllReduce", "Send"
	What    coll.Collective `json:"collective"`
	// elements; Unknown for many different ones, folded to keep memory bounded
	Count int64  `json:"count"`
	Type  string `json:"type"`       // our spelling; "type 99" where the number is not known
	Op    string `json:"op"`         // our spelling; "" where the collective has none; "op 99"
	Size  int64  `json:"size_bytes"` // S as nccl-tests counts it; Unknown
	Times int64  `json:"times"`

	of *member
}

// Sequence compares what the ranks of one communicator called, in order: sends and receives do not count.
type Sequence struct {
	Comm     int       `json:"communicator"`
	Compared int64     `json:"compared"` // calls compared, of the rank that has most
	Ranks    []Reached `json:"ranks"`    // by rank
	Mismatch *Mismatch `json:"mismatch"` // the first call in which ranks disagree; null: none
	Behind   []Behind  `json:"behind"`   // ranks that stopped while others went on, the furthest behind first
	// why this may be of the log alone: cut messages, members that did not write
	Doubt *nccllogs.Doubt `json:"doubt"`
}

// Reached is how far one rank got.
type Reached struct {
	Rank    int    `json:"rank"`
	Process int    `json:"process"`
	Calls   int64  `json:"calls"`
	Op      int64  `json:"op_count"` // of the last call, as the library counts; Unknown
	Last    string `json:"last"`     // the last call: "AllReduce of 2097152 float32, sum"
}

// Mismatch is one call that ranks made differently.
type Mismatch struct {
	Number int64             `json:"call"`     // from 1, among the collectives of this communicator
	Op     int64             `json:"op_count"` // of the first rank's call; Unknown
	Sides  []nccllogs.Called `json:"sides"`    // the most ranks first
}

// Behind is a rank that stopped early.
type Behind struct {
	Rank    int   `json:"rank"`
	Process int   `json:"process"`
	Calls   int64 `json:"calls"`
	By      int64 `json:"by"` // calls that the furthest rank made more
}

// Message is a warning or an error. A text is kept once; numbers of places and addresses do not count as differences.
type Message struct {
	Text string `json:"text"` // as first written
	// WARN, ERROR of NCCLX, FAIL for the way of an error, PyTorch for its time-outs, program for other lines that
	// report an error
	Level     string `json:"level"`
	Place     string `json:"place"` // "transport/net_ib.cc:94 (ncclIbInit)"; "" if not logged
	Times     int64  `json:"times"`
	Processes []int  `json:"processes"`
	File      int    `json:"file"` // index in Log.Files, and
	Line      int64  `json:"line"` // line of the first
}

// Inspected is what the Inspector (NCCL 2.28 and later) measured of one collective and size.
type Inspected struct {
	Comm   string     `json:"communicator"` // id of the header
	Name   string     `json:"name"`
	Source string     `json:"source"` // of times: "kernel_gpu", "kernel_cpu", "collective_cpu"
	Bytes  int64      `json:"bytes"`
	Ranks  int        `json:"ranks"`
	Calls  int64      `json:"calls"`
	Median float64    `json:"median_us"`
	Most   float64    `json:"max_us"`
	Busbw  float64    `json:"busbw_GBps"` // the median, as written
	Slow   []SlowRank `json:"slowest"`    // ranks by median time, slowest first; the first eight

	times, busbw sampler
	byRank       map[int]*sampler
}

// SlowRank is one rank's median.
type SlowRank struct {
	Rank   int     `json:"rank"`
	Median float64 `json:"median_us"`
}

// RAS is one answer of ncclras, or of NCCL's RAS subsystem in a log.
type RAS struct {
	File      int       `json:"file"`
	Version   string    `json:"version"`
	Nodes     int       `json:"nodes"` // Unknown
	Processes int       `json:"processes"`
	GPUs      int       `json:"gpus"`
	Missing   []string  `json:"missing"` // processes that do not answer, as written
	Comms     []RASComm `json:"communicators"`
	Problems  []string  `json:"problems"` // lines under Errors and Warnings, as written
}

// RASComm is one communicator, or a group of like ones, in an answer of ncclras.
type RASComm struct {
	ID      string               `json:"id"` // "" for a group
	Comms   int                  `json:"communicators"`
	Ranks   int                  `json:"ranks"` // of each; Unknown
	Missing int                  `json:"missing_ranks"`
	Status  string               `json:"status"` // RUNNING, MISMATCH, INCOMPLETE, …
	Errors  string               `json:"errors"` // OK, MISMATCH, …
	Counts  []nccllogs.CallCount `json:"counts"` // of collectives where ranks differ, or all where they were printed
	States  []nccllogs.RankState `json:"states"`

	GPUs map[int]string `json:"-"` // host, process and device of its ranks, where they are known
}

// TimedOut is the collective for which PyTorch's watchdog gave up on a rank.
type TimedOut struct {
	Group     string `json:"group,omitempty"` // process group, as PyTorch names it
	Rank      int    `json:"rank"`
	Call      int64  `json:"call"` // number within the group
	Operation string `json:"operation"`
	Elements  int64  `json:"elements,omitempty"`
}

// Row is one row of an nccl-tests table.
type Row struct {
	Bytes    int64   `json:"size_bytes"`
	Type     string  `json:"type"`
	OutTime  float64 `json:"out_us"`
	OutBusbw float64 `json:"out_busbw_GBps"`
}
