package nccllog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/advice"
)

// Explanation is what is known of a message.
type Explanation struct {
	Severity Severity `json:"severity"`
	Means    string   `json:"means"`
	Advice   string   `json:"advice"`
	Source   string   `json:"source"`
	Follows  bool     `json:"follows"` // another failure, whose message is the one to look for
}

// explained is one row of the table of messages: the first that matches counts.
type explained struct {
	match *regexp.Regexp
	Explanation
}

// Sources that several rows have.
const (
	source    = "NCCL's source, "
	ncclIssue = "github.com/NVIDIA/nccl, issue "
)

const (
	interfaces = "name the interface that reaches the other hosts: NCCL_SOCKET_IFNAME; " + advice.OpenTCP
	reach      = "test the two NICs with ib_write_bw -d DEVICE; on RoCE, see show_gids on both hosts: the GID index must be of one kind (RoCE v2), its address reachable on that NIC's subnet " +
		"(NCCL 2.21 and later choose the index: leave NCCL_IB_GID_INDEX unset); on InfiniBand, see ibstat and the partition keys: one subnet, one partition; leave out NICs of networks that are not connected (NCCL_IB_HCA)"
	anew = "look for the first message of that rank, or why its process ended"
)

// explanations are the messages that are known, those that name a cause before those that follow from one.
var explanations = []explained{
	tells(`No space left on device|failed to extend /dev/shm|posix_fallocate failed`,
		Serious, "/dev/shm is full: NCCL's shared memory does not fit", advice.Shared, runtimeDoc+", Shared memory"),
	tells(`unlink shared memory .* failed`,
		Warning, "something removed NCCL's files from /dev/shm; systemd does for users who are not logged in", "RemoveIPC=no in /etc/systemd/logind.conf, and restart systemd-logind", runtimeDoc+", Shared memory"),
	tells(`[Ww]hile (creating|attaching to) shared memory segment|failed to create shared memory file`,
		Serious, "shared memory in /dev/shm could not be made or joined: it is too small, or processes of one host do not see the same", advice.Shared, runtimeDoc+", Shared memory"),
	tells(`Too many open files`,
		Serious, "the process ran out of file descriptors", advice.Files, runtimeDoc+", File Descriptors"),
	tells(`ibv_reg_(dmabuf_)?mr\S* failed.*Bad address`,
		Serious, "the NIC cannot reach GPU memory", advice.Peermem, "github.com/Mellanox/nv_peer_memory, issue 27"),
	tells(`ibv_reg_dmabuf_mr\S* failed.*([Nn]ot supported|Invalid)`,
		Serious, "the InfiniBand driver does not support DMA-BUF", "NCCL_DMABUF_ENABLE=0, or a newer NCCL or InfiniBand driver", ncclIssue+"778"),
	tells(`ibv_(reg_mr|reg_dmabuf_mr|create_qp|create_cq)\S* failed`,
		Serious, "the adapter could not lock memory: most often the limit of locked memory is too small", advice.Locked, networkDoc+", InfiniBand"),
	tells(`ibv_modify_qp failed.*Invalid argument`,
		Serious, "a connection of the adapter could not be set up: on RoCE most often a wrong GID index", "before NCCL 2.21: see show_gids, and set NCCL_IB_GID_INDEX to the one of RoCE v2; since 2.21: leave it unset", networkDoc+", RDMA over Converged Ethernet"),
	tells(`ibv_modify_qp failed`,
		Serious, "a NIC could not set up its InfiniBand or RoCE connection to the NIC of another host", reach, networkDoc+", InfiniBand; "+ncclIssue+"1405, 426 and 769"),
	tells(`non-fatal async event: port error`,
		Serious, "a port of the adapter failed", advice.Cable, source+"src/transport/net_ib/common.cc"),
	tells(`non-fatal async event|GID table changed`,
		Note, "the adapter reported a change of its network, which ends no communication", "", source+"src/transport/net_ib/common.cc"),
	tells(`Error: network .* not found`,
		Serious, "the network that NCCL_NET names was not found: its plugin is missing", "put the folder of its libnccl-net.so on LD_LIBRARY_PATH, or unset NCCL_NET", source+"src/net.cc"),
	tells(`bind NVLink SHARP`,
		Serious, "memory of NVLink SHARP could not be set up in the NVSwitches", "see systemctl status nvidia-fabricmanager, and restart it; NCCL_NVLS_ENABLE=0 does without", source+"src/transport/nvls.cc"),
	tells(`system not yet initialized`,
		Serious, "the NVSwitches are not set up", "systemctl start nvidia-fabricmanager, of the same version as the driver", "CUDA documentation, cudaErrorSystemNotReady"),
	tells(`unhandled (system|cuda) error`,
		Serious, "a call of the system or of CUDA failed inside NCCL; the line of NCCL before it names the call", "run again with NCCL_DEBUG=INFO, and look for the first warning", runtimeDoc+", Errors"),
	tells(`async (fatal )?event|[Gg]ot async event`,
		Serious, "the adapter reported an event of its own, such as a port that went down", advice.Cable, source+"src/transport/net_ib/common.cc"),
	tells(`(Attempted to connect|Attempted to merge) incompatible devices|device is incompatible with the local`,
		Serious, "an InfiniBand port was to talk to a RoCE port", "name cards of one kind: NCCL_IB_HCA", source+"src/transport/net_ib/connect.cc"),
	tells(`Failed to open libibverbs`,
		Warning, "the library for InfiniBand and RoCE is not there, so NCCL does without them", "install libibverbs (rdma-core) on the host, or in the image", source+"src/misc/ibvsymbols.cc"),
	tells(`P2P is disabled between NVLINK connected GPUs`,
		Serious, "two GPUs have NVLink between them and may not use it, which points to the hardware", "see nvidia-smi topo -p2p n and nvidia-smi nvlink --status there; reset the GPUs", source+"src/graph/paths.cc"),
	tells(`Duplicate GPU detected|Multiple Ranks are using the same GPU`,
		Serious, "two ranks have taken one GPU", advice.OwnGPU+", and have each choose its own by its local rank", source+"src/init.cc"),
	tells(`Mismatched NCCL version`,
		Serious, "ranks run different versions of NCCL", advice.OneLibrary, source+"src/init.cc"),
	tells(`mixed local Net device counts`,
		Warning, "hosts have different numbers of network cards for NCCL", "see which host lacks one; "+advice.Cable, source+"src/init.cc"),
	tells(`has already checked in`,
		Serious, "two processes gave themselves one rank", "see how ranks are numbered, and that no second job uses the same address (NCCL_COMM_ID, MASTER_PORT)", source+"src/bootstrap.cc"),
	tells(`Bootstrap Root : mismatch`,
		Serious, "processes that met do not agree on how many they are: often two jobs share one address", "see that no second job uses the same address (NCCL_COMM_ID, MASTER_PORT)", source+"src/bootstrap.cc"),
	tells(`no socket interface found|No IP interface found|no device found (matching|after excluding)|No usable listening interface|No interface found`,
		Serious, "no network interface fits, so ranks cannot meet", "see ip -br address there, and NCCL_SOCKET_IFNAME", networkDoc+", IP network interfaces"),
	tells(`Failed to initialize any NET plugin`,
		Serious, "no network could be used: the one that NCCL_NET or NCCL_NET_PLUGIN asks for is not there or did not start", "unset NCCL_NET and NCCL_NET_PLUGIN, or put the plugin's folder on LD_LIBRARY_PATH", source+"src/plugin/net.cc"),
	tells(`XML Topology has wrong version|XML (Mismatch|Parse)|Attribute .* of node .* not found`,
		Serious, "the topology file cannot be read", "unset NCCL_TOPO_FILE, or mend the file it names", ncclIssue+"1726"),
	tells(`libnvidia-ml|nvmlInit\S* failed`,
		Serious, "the driver's management library is not there, or does not fit the driver", "see nvidia-smi there; in a container: docker run --gpus all", source+"src/misc/nvmlwrap.cc"),
	tells(`iommu=pt`,
		Warning, "RCCL did not find iommu=pt on the kernel's command line; in virtual machines that is no fault", advice.IOMMU, "github.com/ROCm/rccl, pull request 2112"),
	tells(`NUMA auto b(a)?lancing`,
		Warning, "the kernel moves pages between NUMA nodes while they are in use", advice.Balancing, "github.com/ROCm/rccl, pull request 696"),
	tells(`Cuda failure.*out of memory|CUDA (m|c)alloc|Failed to CUDA`,
		Serious, "no GPU memory was left for NCCL's own buffers", "leave some free: smaller batches, a bound for the framework's own pool; nvidia-smi shows who else holds it", source+"src/include/alloc.h"),
	tells(`uncorrectable ECC`,
		Serious, "GPU memory has an error that could not be corrected", advice.MemoryErrors, "CUDA documentation, cudaErrorECCUncorrectable"),
	tells(`driver version is insufficient`,
		Serious, "the driver is older than what NCCL was built for", "install a newer driver, or the build of NCCL for the older CUDA", "CUDA documentation, cudaErrorInsufficientDriver"),
	tells(`illegal memory access|unspecified launch failure|misaligned address`,
		Serious, "a kernel broke the GPU's context; any kernel that ran before may have been it, and NCCL only met it", "run the program with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find whose it was", "CUDA documentation, cudaErrorIllegalAddress"),
	tells(`Watchdog caught collective operation timeout`,
		Serious, "PyTorch's watchdog gave up: a rank did not arrive in time. The time is PyTorch's (init_process_group(timeout=…), 10 minutes for NCCL since 2.2, 30 before); NCCL has no NCCL_TIMEOUT",
		"find the rank that did not call: that with the lowest “last enqueued NCCL work”, or TORCH_NCCL_DUMP_ON_TIMEOUT=1 with TORCH_NCCL_TRACE_BUFFER_SIZE=2000; longer time only where a rank rightly takes long", "PyTorch documentation, ProcessGroupNCCL Environment Variables; github.com/pytorch/pytorch, pull request 110947"),
	tells(`[Hh]eartbeat monitor timed out`,
		Serious, "PyTorch's watchdog itself stood still, most often inside a call of CUDA or NCCL that does not return; the time is TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "find the rank that did not call; a longer time only hides it", "PyTorch documentation, ProcessGroupNCCL Environment Variables"),
	tells(`Call to ibv_\w+ failed|NET/IB ?:.*([Uu]nable|[Ff]ail|[Tt]imed? ?out|unreachable|refused|[Nn]o route)`,
		Serious, "a NIC could not be used for InfiniBand or RoCE", "see ibv_devinfo there: the port must be active; "+advice.Devices+"; "+reach, networkDoc+", InfiniBand"),
	tells(`Network is unreachable|No route to host`,
		Serious, "there is no way to the address of another rank from here: most often a wrong interface", interfaces, networkDoc+", IP network interfaces"),
	tells(`Connection refused`,
		Serious, "another rank's host answered that nobody listens there: its process is gone, or the address belongs to another host", interfaces+"; "+anew, networkDoc+", IP network interfaces"),
	tells(`[Cc]onnect(ion)?\b.*(timed? ?out|failed|exceeded error retry)|software caused connection abort`,
		Serious, "a connection to another rank could not be made: a wrong interface, or a firewall", interfaces, networkDoc+", IP network interfaces"),
	follows(`Connection closed by remote peer|Connection reset by peer|Broken pipe|peer has (closed|reset)|remote process (exited|has)`,
		"the other end was gone: its process failed or ended first", anew, source+"src/misc/socket.cc"),
	follows(`Socket recv failed|\[(Proxy )?Service( thread)?[^]]*\]|Failed to execute operation|\[Proxy Progress\]`,
		"NCCL's own thread met a failure that was told before", "look at the message before this one, of the same process", source+"src/proxy.cc"),
	follows(`Message truncated : received`,
		"ranks exchanged different things while they met: one of them is a step ahead, or of another job", "compare what the ranks called, and that no second job uses the same address (NCCL_COMM_ID, MASTER_PORT)", source+"src/bootstrap.cc"),
	tells(`Cuda failure`,
		Serious, "a call of CUDA failed, with the text that CUDA has for it", "", source+"src/include/checks.h"),
}

func tells(pattern string, s Severity, means, todo, source string) explained {
	return explained{regexp.MustCompile(pattern), Explanation{Severity: s, Means: means, Advice: todo, Source: source}}
}

func follows(pattern, means, todo, source string) explained {
	e := tells(pattern, Warning, means, todo, source)
	e.Follows = true
	return e
}

// Explain says what a message means; nil where that is not known.
func Explain(text string) *Explanation {
	if e := explainCompletion(text); e != nil {
		return e
	}
	for _, e := range explanations {
		if e.match.MatchString(text) {
			found := e.Explanation
			return &found
		}
	}
	return nil
}

// completion is an adapter's answer that an operation failed: "Got completion from peer A with error 12, opcode 0, len 0,
// vendor err 129", "with status=12 opcode=1", or "status=RETRY_EXC_ERR(12)".
var completion = regexp.MustCompile(`Got (?:a )?completion .*?(?:error |status=)(?:[A-Za-z_ ]*\()?(\d+)\)?.*?vendor[ _]err[ =]?(\d+)`)

// statuses are what the codes of completions mean: enum ibv_wc_status of libibverbs.
var statuses = map[int]struct{ name, means, todo string }{
	4:  {"IBV_WC_LOC_PROT_ERR", "memory that is not registered with the adapter was used", ""},
	5:  {"IBV_WC_WR_FLUSH_ERR", "the connection had failed before; this is what was left of it", "look for the first completion with another code"},
	9:  {"IBV_WC_REM_INV_REQ_ERR", "the other end refused the operation", ""},
	10: {"IBV_WC_REM_ACCESS_ERR", "memory of the other end may not be accessed", ""},
	11: {"IBV_WC_REM_OP_ERR", "the other end could not carry out the operation", anew},
	12: {"IBV_WC_RETRY_EXC_ERR", "the other end's adapter did not answer, though asked again and again",
		"where it comes at once: see that the cards reach each other (ib_write_bw between the two), and the GID index and traffic class on RoCE; where it comes later: cables, congestion, or the other process ended; NCCL_IB_TIMEOUT and NCCL_IB_RETRY_CNT give it longer"},
	13: {"IBV_WC_RNR_RETRY_EXC_ERR", "the other end was not ready to receive, though asked again and again", anew},
}

// explainCompletion explains a failed completion; nil where the text is none.
func explainCompletion(text string) *Explanation {
	m := completion.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	code, _ := strconv.Atoi(m[1])
	s, known := statuses[code]
	e := &Explanation{Severity: Serious, Source: source + "src/include/ibvcore.h (ibv_wc_status); " + ncclIssue + "426"}
	if !known {
		e.Means = fmt.Sprintf("an operation of the adapter failed with code %d of libibverbs' ibv_wc_status", code)
		return e
	}
	e.Means = fmt.Sprintf("%d is %s: %s", code, s.name, s.means)
	if m[2] == "129" && code == 12 {
		e.Means += " (129 is the adapter's own word for the same)"
	}
	e.Advice, e.Follows = s.todo, code == 5
	if e.Follows {
		e.Severity = Warning
	}
	return e
}

// findMessages explains the warnings and errors, those of one meaning together. Of messages that follow from others, where
// those are there, little is made.
func findMessages(l *Log) (found []Finding) {
	cause := false
	for _, m := range l.Messages {
		e := Explain(m.Text)
		cause = cause || e != nil && !e.Follows && e.Severity == Serious
	}
	by := map[string]int{} // places in found
	who := map[string][]int{}
	for _, m := range l.Messages {
		if m.Level == failed {
			continue
		}
		f := Finding{Kind: Warned, Severity: Warning, Says: "The library warns, in words that are not explained here."}
		if m.Level == programLevel {
			f.Says = "The program reports an error that is not explained here."
		}
		key := shape(m.Text)
		if e := Explain(m.Text); e != nil {
			f.Severity, f.Says, f.Advice, f.Source, f.follows = e.Severity, upper(e.Means)+".", e.Advice, e.Source, e.Follows
			if e.Follows && !cause {
				f.Severity = Serious
			}
			key = e.Means
		}
		if _, there := by[key]; !there {
			by[key] = len(found)
			found = append(found, f)
		}
		at := by[key]
		found[at].Evidence = append(found[at].Evidence, l.quote(m))
		who[key] = append(who[key], m.Processes...)
	}
	for key, at := range by {
		f := &found[at]
		f.Evidence = clipTexts(f.Evidence)
		f.Who = l.who(slices.Compact(slices.Sorted(slices.Values(who[key]))))
	}
	if len(found) == 0 {
		return findFailed(l)
	}
	return found
}

// failed is the level of lines that tell which way an error took: "init.cc:1798 -> 6".
const failed = "FAIL"

// results are ncclResult_t's codes.
var results = map[string]string{"1": "unhandled CUDA error", "2": "unhandled system error", "3": "internal error", "4": "invalid argument", "5": "invalid usage", "6": "remote error"}

// findFailed tells of errors that no warning goes with, as with NCCL_DEBUG_SUBSYS set to little.
func findFailed(l *Log) []Finding {
	var lines []string
	var processes []int
	code := ""
	for _, m := range l.Messages {
		if m.Level != failed {
			continue
		}
		if _, after, ok := strings.Cut(m.Text, "-> "); ok && code == "" {
			code, _, _ = strings.Cut(after, " ")
		}
		lines, processes = append(lines, brief(m.Text)), append(processes, m.Processes...)
	}
	if lines == nil {
		return nil
	}
	slices.Sort(processes)
	return []Finding{{Kind: Warned, Severity: Serious, Who: l.who(slices.Compact(processes)), Source: runtimeDoc + ", Errors",
		Says:     fmt.Sprintf("Calls of NCCL failed (%s), and no warning says why.", cmp.Or(results[code], "code "+code)),
		Evidence: clipTexts(lines), Advice: "run again with NCCL_DEBUG=INFO; see what the program itself printed"}}
}

// quote is a message with its place, and how often and where it stands.
func (l *Log) quote(m Message) string {
	text := fmt.Sprintf("%s: %q", cmp.Or(m.Level, "WARN"), brief(m.Text))
	if m.Place != "" {
		text += " at " + m.Place
	}
	if m.Times > 1 {
		text += fmt.Sprintf(", %d times", m.Times)
	}
	if m.Line > 0 {
		at := fmt.Sprintf("line %d", m.Line)
		if len(l.Files) > 1 && m.File >= 0 && m.File < len(l.Files) {
			at += " of " + l.Files[m.File].Path
		}
		text += ", first in " + at
	}
	return text
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

// upper begins a sentence, except with the name of a file.
func upper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
