package nccllog

import (
	"regexp"
	"slices"
	"strings"

	"busbar/internal/notice"
)

// explained is a pattern of messages with the code of their cause, which internal/notice explains.
type explained struct {
	match   *regexp.Regexp
	code    notice.Code
	follows bool // from another failure, whose message is the one to look for
}

// explanations are the messages whose cause is known; the first that matches counts. Those that name a cause precede
// those that follow from one.
var explanations = []explained{
	{
		regexp.MustCompile(`No space left on device|failed to extend \S+ to|posix_fallocate failed`),
		"shared-memory-full", false,
	},
	{regexp.MustCompile(`unlink shared memory .* failed`), "shared-memory-removed", false},
	{
		regexp.MustCompile(
			`[Ww]hile (creating|attaching to) shared memory segment|failed to create shared memory file|Could not map \S+ size`,
		),
		"shared-memory-failed", false,
	},
	{regexp.MustCompile(`Too many open files`), "too-many-open-files", false},
	{regexp.MustCompile(`ibv_reg_(dmabuf_)?mr\S* failed.*Bad address`), "nic-cannot-reach-gpu", false},
	{regexp.MustCompile(`ibv_reg_dmabuf_mr\S* failed.*([Nn]ot supported|Invalid)`), "dmabuf-unsupported", false},
	{regexp.MustCompile(`ibv_(reg_mr|reg_dmabuf_mr|create_qp|create_cq)\S* failed`), "locked-memory-limit", false},
	{
		regexp.MustCompile(`collective mismatch error|message truncated : receiving|Mismatched collective|posted incorrect receive info`),
		"collective-mismatch", false,
	},
	{regexp.MustCompile(`ibv_modify_qp failed.*Invalid argument`), "wrong-gid-index", false},
	{regexp.MustCompile(`ibv_modify_qp failed`), "rdma-setup-failed", false},
	{regexp.MustCompile(`non-fatal async event: port error`), "nic-port-error", false},
	{regexp.MustCompile(`non-fatal async event|GID table changed`), "nic-event", false},
	{regexp.MustCompile(`Error: network .* not found`), "network-plugin-missing", false},
	{regexp.MustCompile(`bind NVLink SHARP`), "nvls-setup-failed", false},
	{regexp.MustCompile(`system not yet initialized`), "nvswitch-not-ready", false},
	{regexp.MustCompile(`unhandled (system|cuda) error`), "call-failed", false},
	{regexp.MustCompile(`async (fatal )?event|[Gg]ot async event`), "nic-port-error", false},
	{
		regexp.MustCompile(
			`(Attempted to connect|Attempted to merge) incompatible devices|device is incompatible with the local`,
		),
		"mixed-fabrics", false,
	},
	{regexp.MustCompile(`Failed to open libibverbs`), "libibverbs-missing", false},
	{regexp.MustCompile(`P2P is disabled between NVLINK connected GPUs`), "nvlink-p2p-disabled", false},
	{regexp.MustCompile(`Duplicate GPU detected|Multiple Ranks are using the same GPU`), "duplicate-gpu", false},
	{regexp.MustCompile(`Mismatched NCCL version`), "nccl-version-mismatch", false},
	{regexp.MustCompile(`mixed local Net device counts`), "nic-count-differs", false},
	{regexp.MustCompile(`has already checked in`), "duplicate-rank", false},
	{regexp.MustCompile(`Bootstrap Root : mismatch`), "world-size-mismatch", false},
	{
		regexp.MustCompile(
			`no socket interface found|No IP interface found|no device found (matching|after excluding)|` +
				`No usable listening interface|No interface found`,
		),
		"no-usable-interface", false,
	},
	{
		regexp.MustCompile(`NET/OFI .*(fabric provider|protocol that worked|eligible providers|fi_getinfo|at least libfabric|` +
			`Failed to initialize \S+ protocol)`),
		"libfabric-no-provider", false,
	},
	{regexp.MustCompile(`NET/OFI .*(completed with error|fi_\w+ failed|process CQ)`), "libfabric-failed", false},
	{
		regexp.MustCompile(`Failed to initialize any NET plugin|Network returned 0 device`),
		"no-usable-network", false,
	},
	{regexp.MustCompile(`No transport found|has no transport for`), "no-transport", false},
	{regexp.MustCompile(`[Nn]o algorithm/protocol available`), "no-algorithm", false},
	{regexp.MustCompile(`MNNVL .*(not working|not supported)`), "imex-not-ready", false},
	{regexp.MustCompile(`library (version )?is too old|library is not backwards compatible`), "nccl-too-old", false},
	{
		regexp.MustCompile(`Could not find real path|could not find CPU close to|Could not find any local path|` +
			`Failed to find reverse path`),
		"topology-incomplete", false,
	},
	{
		regexp.MustCompile(`: invalid (root|type|reduction operation|device|rank)|argument (should not be|is) NULL|` +
			`is not a valid pointer|not a device pointer|unknown to this communicator|corrupted comm object|` +
			`Attempt to use communicator before|mixing different streams|nvalid (config|rank requested|device count)`),
		"invalid-call", false,
	},
	{
		regexp.MustCompile(`XML Topology has wrong version|XML (Mismatch|Parse)|Attribute .* of node .* not found`),
		"topology-file-invalid", false,
	},
	{regexp.MustCompile(`libnvidia-ml|nvmlInit\S* failed`), "nvml-failed", false},
	{regexp.MustCompile(`iommu=(pt|on)`), "iommu-translation", false},
	{regexp.MustCompile(`HSA_FORCE_FINE_GRAIN_PCIE`), "rccl-fine-grain", false},
	{regexp.MustCompile(`NUMA auto b(a)?lancing`), "rccl-warns-numa-balancing", false},
	{regexp.MustCompile(`Cuda failure.*out of memory|CUDA (m|c)alloc|Failed to CUDA`), "gpu-out-of-memory", false},
	{regexp.MustCompile(`uncorrectable ECC`), "gpu-memory-error", false},
	{
		regexp.MustCompile(`driver version is insufficient|unsupported toolchain|CUDA Driver version found is|` +
			`not supported in the installed CUDA driver|forward compatibility was attempted`),
		"driver-too-old", false,
	},
	{regexp.MustCompile(`peer mapping resources exhausted`), "gpu-peers-exhausted", false},
	{regexp.MustCompile(`invalid device function|no kernel image is available`), "gpu-not-supported", false},
	{regexp.MustCompile(`invalid device ordinal|no CUDA-capable device`), "no-such-gpu", false},
	{regexp.MustCompile(`devices? (is|are|\(s\) is/are) busy`), "gpu-busy", false},
	{
		regexp.MustCompile(`CUDA IPC handle|failed to peer with device|peer access is not supported|` +
			`mapping of buffer object failed`),
		"gpu-peer-access-failed", false,
	},
	{
		regexp.MustCompile(`Cuda failure.*(operation not supported|call requires newer driver)`),
		"cuda-feature-missing", false,
	},
	{
		regexp.MustCompile(`illegal memory access|unspecified launch failure|misaligned address`),
		"gpu-context-broken", false,
	},
	{regexp.MustCompile(`Watchdog caught collective operation timeout`), "pytorch-watchdog-timeout", false},
	{regexp.MustCompile(`[Hh]eartbeat monitor timed out`), "pytorch-heartbeat-timeout", false},
	{
		regexp.MustCompile(
			`Call to ibv_\w+ failed|NET/IB ?:.*([Uu]nable|[Ff]ail|[Tt]imed? ?out|unreachable|refused|[Nn]o route)`,
		),
		"nic-unusable", false,
	},
	{regexp.MustCompile(`Address already in use`), "address-in-use", false},
	{regexp.MustCompile(`Cannot assign requested address`), "address-not-local", false},
	{
		regexp.MustCompile(`Invalid NCCL_COMM_ID|error encountered when getting address info|:port> pair found|` +
			`port pair found`),
		"address-not-resolved", false,
	},
	{
		regexp.MustCompile(`pthread_create\S* failed|Resource temporarily unavailable`),
		"too-many-threads", false,
	},
	{
		regexp.MustCompile(`Cannot allocate memory|malloc\(.*returned null|Failed to (m|c)alloc`),
		"host-out-of-memory", false,
	},
	{regexp.MustCompile(`Network is unreachable|No route to host`), "host-unreachable", false},
	{regexp.MustCompile(`Connection refused`), "connection-refused", false},
	{
		regexp.MustCompile(
			`[Cc]onnect(ion)?\b.*(timed? ?out|failed|exceeded error retry)|software caused connection abort`,
		),
		"connection-failed", false,
	},
	{
		regexp.MustCompile(
			`Connection closed by remote peer|Connection reset by peer|Broken pipe|peer has (closed|reset)|` +
				`remote process (exited|has)`,
		),
		"remote-closed", true,
	},
	{
		regexp.MustCompile(
			`Socket recv failed|\[(Proxy )?Service( thread)?[^]]*\]|Failed to execute operation|\[Proxy Progress\]|` +
				`Proxy Call to rank \d+ failed`,
		),
		"proxy-failed", true,
	},
	{regexp.MustCompile(`Message truncated : received`), "bootstrap-mismatch", true},
	{regexp.MustCompile(`Cuda failure`), "cuda-call-failed", false},
}

// explain returns the explanation of a message; nil where its cause is not known.
func explain(text string) *explained {
	if e := explainCompletion(text); e != nil {
		return e
	}
	for i := range explanations {
		if explanations[i].match.MatchString(text) {
			return &explanations[i]
		}
	}
	return nil
}

// completion is a NIC's answer that an operation failed: "Got completion from peer A with error 12, opcode 0, len 0,
// vendor err 129", "with status=12 opcode=1", or "status=RETRY_EXC_ERR(12)".
var completion = regexp.MustCompile(
	`Got (?:a )?completion .*?(?:error |status=)(?:[A-Za-z_ ]*\()?(\d+)\)?.*?vendor[ _]err[ =]?(\d+)`)

// statuses are the codes for enum ibv_wc_status of libibverbs.
var statuses = map[string]notice.Code{
	"4": "rdma-local-protection", "5": "rdma-flushed", "9": "rdma-refused", "10": "rdma-remote-access",
	"11": "rdma-remote-failed", "12": "rdma-no-answer", "13": "rdma-receiver-not-ready",
}

// explainCompletion explains a failed completion; nil where the text is none.
func explainCompletion(text string) *explained {
	m := completion.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	code, known := statuses[m[1]]
	if !known {
		code = "rdma-failed"
	}
	return &explained{code: code, follows: code == "rdma-flushed"}
}

// severe reports whether a message of this cause is an error by itself.
func (e *explained) severe() bool { return notice.Find(e.code).Severity == notice.Error }

// sameCause is messages of one cause.
type sameCause struct {
	explained *explained // nil: not known
	by        notice.Printer
	quotes    []notice.Quoted
	processes []int
}

// findMessages explains the warnings and errors, those of one cause together. Those that follow from others are no
// errors where those are in the log.
func findMessages(l *Log) []found {
	cause := false
	for _, m := range l.Messages {
		e := explain(m.Text)
		cause = cause || e != nil && !e.follows && e.severe()
	}
	by := map[string]*sameCause{}
	var order []*sameCause
	for _, m := range l.Messages {
		if m.Level == failed {
			continue
		}
		e, printer, key := explain(m.Text), notice.ByLibrary, shape(m.Text)
		if m.Level == programLevel {
			printer = notice.ByProgram
		}
		if e != nil {
			key = string(e.code)
		}
		if by[key] == nil {
			by[key] = &sameCause{explained: e, by: printer}
			order = append(order, by[key])
		}
		by[key].quotes = append(by[key].quotes, l.quote(m))
		by[key].processes = append(by[key].processes, m.Processes...)
	}
	var all []found
	for _, m := range order {
		who := l.who(slices.Compact(slices.Sorted(slices.Values(m.processes))))
		if m.explained == nil {
			all = append(all, about(who, notice.Unexplained{By: m.by, Messages: m.quotes}))
			continue
		}
		f := about(who, notice.LibraryMessage{Cause: m.explained.code, Messages: m.quotes, Vendor: l.vendor()})
		if f.follows = m.explained.follows; f.follows && !cause {
			f.Severity = notice.Error
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return findFailed(l)
	}
	return all
}

// failed is the level of lines by which an error is passed on: "init.cc:1798 -> 6".
const failed = "FAIL"

// findFailed finds errors without a warning, as with NCCL_DEBUG_SUBSYS set to little.
func findFailed(l *Log) []found {
	var fact notice.FailedCalls
	var processes []int
	for _, m := range l.Messages {
		if m.Level != failed {
			continue
		}
		if _, after, ok := strings.Cut(m.Text, "-> "); ok && fact.Result == "" {
			code, _, _ := strings.Cut(after, " ")
			fact.Result = notice.ResultCode(code)
		}
		fact.Lines, processes = append(fact.Lines, brief(m.Text)), append(processes, m.Processes...)
	}
	if fact.Lines == nil {
		return nil
	}
	slices.Sort(processes)
	return []found{about(l.who(slices.Compact(processes)), fact)}
}

// quote is a message with its place, how often it occurs, and where first.
func (l *Log) quote(m Message) notice.Quoted {
	q := notice.Quoted{Level: m.Level, Text: brief(m.Text), Place: m.Place, Times: int(m.Times), Line: int(m.Line)}
	if len(l.Files) > 1 && m.Line > 0 && m.File >= 0 && m.File < len(l.Files) {
		q.File = l.Files[m.File].Path
	}
	return q
}

// brief shortens a text that is quoted.
func brief(text string) string {
	const most = 160
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
