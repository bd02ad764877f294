package machine

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Network counters of this host: RDMA ports, network interfaces, and TCP. They count everything on the host, not this
// job alone, and some adapters refresh them every 10 ms only.

// counterClass is what a counter adds to in a NetUse.
type counterClass int

const (
	received counterClass = iota
	transmitted
	broken      // errors of a link: one is worth a warning
	dropped     // packets given up; a few are common
	retransmits // signs of packets sent again
)

// counterFile is one counter, held open and read in place: a case should not pay for opening a hundred files.
type counterFile struct {
	port  string // "eth0", "mlx5_0/1", "tcp"
	name  string
	class counterClass
	unit  uint64 // bytes (or events) a count
	bits  int    // width at which it may wrap; 64 does not
	path  string
}

// CounterFiles are the counters of one host.
type CounterFiles struct {
	files []counterFile
	snmp  string // path of /proc/net/snmp
}

// Counters is one reading; values are in the order of the files, -1 where one could not be read.
type Counters struct {
	of     *CounterFiles
	values []int64
	tcp    int64 // segments retransmitted, -1 if unknown
}

// counterNames are the names of counters by their class.
type counterNames [retransmits + 1][]string

var (
	portCounters = counterNames{
		received: {"port_rcv_data"}, transmitted: {"port_xmit_data"},
		broken: {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
			"local_link_integrity_errors", "excessive_buffer_overrun_errors"},
		dropped: {"port_xmit_discards"},
	}
	// Of Mellanox and Broadcom adapters, and of Amazon's EFA, which has nothing else.
	hardwareCounters = counterNames{
		received: {"rx_bytes"}, transmitted: {"tx_bytes"}, broken: {"rx_icrc_encapsulated"},
		dropped: {"out_of_buffer", "rx_drops"},
		retransmits: {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err",
			"rnr_nak_retry_err", "roce_adp_retrans", "to_retransmits", "retrans_pkts"},
	}
	interfaceCounters = counterNames{
		received: {"rx_bytes"}, transmitted: {"tx_bytes"}, broken: {"rx_errors", "tx_errors"},
		dropped: {"rx_dropped", "tx_dropped"},
	}
)

// mostPorts bounds the time of a reading, on hosts with hundreds of virtual interfaces.
const mostPorts = 32

// OpenCounters opens what there is below root; it may be nothing.
func OpenCounters(root string) *CounterFiles {
	c := &CounterFiles{snmp: filepath.Join(root, "proc/net/snmp")}
	ports, _ := filepath.Glob(filepath.Join(root, "sys/class/infiniband/*/ports/*"))
	for _, dir := range ports[:min(mostPorts, len(ports))] {
		port := filepath.Base(filepath.Dir(filepath.Dir(dir))) + "/" + filepath.Base(dir)
		c.add(port, filepath.Join(dir, "counters"), portCounters, 4, 32)
		c.add(port, filepath.Join(dir, "hw_counters"), hardwareCounters, 1, 64)
	}
	for _, name := range interfaces(root) {
		c.add(name, filepath.Join(root, "sys/class/net", name, "statistics"), interfaceCounters, 1, 64)
	}
	return c
}

// interfaces are those that are not down, those with hardware behind them first.
func interfaces(root string) []string {
	entries, _ := os.ReadDir(filepath.Join(root, "sys/class/net"))
	var hardware, virtual []string
	for _, e := range entries {
		if ReadText(root, "sys/class/net", e.Name(), "operstate") == "down" {
			continue
		}
		if Exists(root, "sys/class/net", e.Name(), "device") {
			hardware = append(hardware, e.Name())
		} else {
			virtual = append(virtual, e.Name())
		}
	}
	all := append(hardware, virtual...)
	return all[:min(mostPorts, len(all))]
}

// add adds the counters that exist. Data of an InfiniBand port are counted in words of four bytes.
func (c *CounterFiles) add(port, dir string, names counterNames, word uint64, bits int) {
	for class, list := range names {
		unit := uint64(1)
		if counterClass(class) <= transmitted {
			unit = word
		}
		for _, name := range list {
			if path := filepath.Join(dir, name); Exists(path) {
				c.files = append(c.files, counterFile{port, name, counterClass(class), unit, bits, path})
			}
		}
	}
}

// Read takes one reading. It opens a file a counter, microseconds each; where an adapter is asked by a command
// to its firmware it may be a millisecond for all. It belongs outside of what is timed.
func (c *CounterFiles) Read() Counters {
	r := Counters{of: c, values: make([]int64, len(c.files)), tcp: retransmitted(ReadText(c.snmp))}
	for i, f := range c.files {
		v, ok := ReadNumber(f.path)
		if !ok {
			v = -1
		}
		r.values[i] = v
	}
	return r
}

// retransmitted finds RetransSegs in the text of /proc/net/snmp, where a line of names precedes a line of numbers.
func retransmitted(snmp string) int64 {
	var names []string
	for line := range strings.Lines(snmp) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "Tcp:" {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		if i := slices.Index(names, "RetransSegs"); i >= 0 && i < len(words) {
			if v, err := strconv.ParseInt(words[i], 10, 64); err == nil {
				return v
			}
		}
		break
	}
	return -1
}

// moved is by how much a counter grew. One that fell was set back, or wrapped if it is narrow and was in its upper
// half.
func moved(before, after int64, bits int) int64 {
	switch {
	case before < 0 || after < 0:
		return 0
	case after >= before:
		return after - before
	case bits == 32 && before < 1<<32 && before >= 1<<31:
		return after + 1<<32 - before
	}
	return after
}

// Since is what moved between two readings of the same files, by port in order of the files; a port that did not
// move has no entry.
func (after Counters) Since(before Counters) []result.NetUse {
	var use []result.NetUse
	for f, n := range after.changes(before) {
		if len(use) == 0 || use[len(use)-1].Name != f.port {
			use = append(use, result.NetUse{Name: f.port})
		}
		u, d := &use[len(use)-1], n*int64(f.unit)
		switch f.class {
		case received:
			u.RxBytes += d
		case transmitted:
			u.TxBytes += d
		case broken, dropped:
			u.Errors += d
		case retransmits:
			u.Retransmits += d
		}
	}
	if d := moved(before.tcp, after.tcp, 64); d != 0 {
		use = append(use, result.NetUse{Name: "tcp", Retransmits: d})
	}
	return use
}

// changes yields the counters that moved, and by how many counts.
func (after Counters) changes(before Counters) iter.Seq2[counterFile, int64] {
	return func(yield func(counterFile, int64) bool) {
		for i, f := range after.of.files {
			if d := moved(before.values[i], after.values[i], f.bits); d != 0 && !yield(f, d) {
				return
			}
		}
	}
}

// manyRare is how many drops or retransmissions during a case are worth a warning; errors of a link always are.
const manyRare = 10

// LinkWarnings names the counters that show a faulty link or a congested network. hosts is how many the ranks are on:
// what TCP sends again within one host got no answer in time, as no link can lose it.
func LinkWarnings(before, after Counters, hosts int) []notice.Fact {
	var links []notice.LinkErrors
	add := func(port, what string) {
		if len(links) == 0 || links[len(links)-1].Port != port {
			links = append(links, notice.LinkErrors{Port: port})
		}
		l := &links[len(links)-1]
		l.Counters = append(l.Counters, what)
	}
	for f, n := range after.changes(before) {
		if f.class == broken || f.class > broken && n >= manyRare {
			add(f.port, fmt.Sprintf("%d %s", n, f.name))
		}
	}
	tcp := moved(before.tcp, after.tcp, 64)
	if tcp >= manyRare && hosts > 1 {
		add("tcp", fmt.Sprintf("%d retransmitted segments", tcp))
	}
	var found []notice.Fact
	for _, l := range links {
		found = append(found, l)
	}
	if tcp >= manyRare && hosts == 1 {
		found = append(found, notice.LocalRetransmissions{Segments: tcp})
	}
	return found
}
