package machine

import (
	"reflect"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
)

const snmpText = "Ip: Forwarding\nIp: 2\nTcp: RtoAlgorithm MaxConn RetransSegs InErrs\nTcp: 1 -1 %s 0\nUdp: " +
	"InDatagrams\nUdp: 39\n"

// port is where an adapter's counters are.
const port = "sys/class/infiniband/mlx5_0/ports/1/"

func TestCounters(t *testing.T) {
	root := machinetest.Root(t, map[string]string{
		port + "counters/port_rcv_data": "1000\n", port + "counters/port_xmit_data": "2000\n",
		port + "counters/symbol_error":       "5\n",
		port + "counters/port_xmit_discards": "0\n", port + "hw_counters/out_of_sequence": "7\n",
		port + "hw_counters/lifespan":                                 "10\n",
		"sys/class/infiniband/efa_0/ports/1/hw_counters/rx_bytes":     "50\n",
		"sys/class/infiniband/efa_0/ports/1/hw_counters/retrans_pkts": "0\n",
		"sys/class/net/eth0/statistics/rx_bytes":                      "100\n",
		"sys/class/net/eth0/statistics/tx_bytes":                      "9\n",
		"sys/class/net/eth0/statistics/rx_dropped":                    "1\n", "sys/class/net/eth0/device/": "",
		"sys/class/net/eth0/operstate":           "up\n",
		"sys/class/net/eth1/statistics/rx_bytes": "1\n", "sys/class/net/eth1/operstate": "down\n",
		"sys/class/net/lo/statistics/rx_bytes": "70\n", "sys/class/net/lo/operstate": "unknown\n",
		"proc/net/snmp": strings.ReplaceAll(snmpText, "%s", "3"),
	})
	files := OpenCounters(root)
	before := files.Read()
	if use := files.Read().Since(before); use != nil {
		t.Errorf("no traffic, but %+v", use)
	}
	machinetest.Write(t, root, map[string]string{
		port + "counters/port_rcv_data": "1010\n", port + "counters/symbol_error": "6\n",
		port + "counters/port_xmit_discards": "2\n",
		port + "hw_counters/out_of_sequence": "27\n", "sys/class/infiniband/efa_0/ports/1/hw_counters/rx_bytes": "60\n",
		"sys/class/net/eth0/statistics/rx_bytes": "300\n", "sys/class/net/eth0/statistics/rx_dropped": "4\n",
		"sys/class/net/eth1/statistics/rx_bytes": "99\n", "sys/class/net/lo/statistics/rx_bytes": "80\n",
		"proc/net/snmp": strings.ReplaceAll(snmpText, "%s", "8"),
	})
	after := files.Read()
	want := []result.NetUse{
		{Name: "efa_0/1", RxBytes: 10},
		{Name: "mlx5_0/1", RxBytes: 40, Errors: 3, Retransmits: 20},
		{Name: "eth0", RxBytes: 200, Errors: 3},
		{Name: "lo", RxBytes: 10},
		{Name: "tcp", Retransmits: 5},
	}
	test.SliceEqOp(t, want, after.Since(before))
	warnings := LinkWarnings(before, after, 1)
	link := notice.LinkErrors{Port: "mlx5_0/1", Counters: []string{"1 symbol_error", "20 out_of_sequence"}}
	test.Eq(t, []notice.Fact{link}, warnings, test.Sprint(link))
}

func TestNoCounters(t *testing.T) {
	files := OpenCounters(t.TempDir())
	a := files.Read()
	if use, w := files.Read().Since(a), LinkWarnings(a, files.Read(), 1); use != nil || w != nil {
		t.Errorf("%v, %v", use, w)
	}
}

func TestTCPWarning(t *testing.T) {
	files := &CounterFiles{}
	for _, c := range []struct {
		after int64
		hosts int
		want  notice.Fact // nil: no warning
	}{
		{109, 2, nil},
		{109, 1, nil},
		{110, 2, notice.LinkErrors{Port: "tcp", Counters: []string{"10 retransmitted segments"}}},
		{110, 1, notice.LocalRetransmissions{Segments: 10}},
	} {
		w := LinkWarnings(Counters{files, nil, 100}, Counters{files, nil, c.after}, c.hosts)
		if c.want == nil && w != nil || c.want != nil && !reflect.DeepEqual(w, []notice.Fact{c.want}) {
			t.Errorf("%+v: %v", c, w)
		}
	}
}

func TestMoved(t *testing.T) {
	for _, c := range golden.Table[struct {
		Name          string
		Before, After int64
		Bits          int
		Want          int64
	}](t, `
		Name                Before    After  Bits  Want
		grew                5         9      64    4
		wrapped             1<<32-10  5      32    15
		set back            1000      5      32    5
		set back, wide      1<<32-10  5      64    5
		was wide after all  1<<40     7      32    7
		unknown before      -1        5      64    0
		unknown after       5         -1     64    0
	`) {
		test.EqOp(t, c.Want, moved(c.Before, c.After, c.Bits), test.Sprint(c.Name))
	}
}
