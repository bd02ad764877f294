package timeline

import (
	"slices"
	"strings"
	"testing"
)

func (t *Timeline) answer(key string) Answer {
	i := slices.IndexFunc(t.Answers, func(a Answer) bool { return a.Key == key })
	return t.Answers[i]
}

func TestAnswers(t *testing.T) {
	yes, no := true, false
	late := compared(job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late}.ranksOf()...)
	slow := healthy()
	slow.Devices[0].Shared = []SharedStream{{ID: 7, OfComm: 100, OfCompute: 90}}
	slow.Devices[1].Shared = slow.Devices[0].Shared
	slow.review()
	well := healthy()
	well.review()
	long := healthy()
	long.Devices[1].seen[0].end = 60e9
	long.review()
	alone := &Timeline{Devices: []Device{{Kernels: 5, World: 1, Label: "device 0", Parts: Parts{Span: 10, Compute: 8, Idle: 2}}}}
	alone.review()
	two := &Timeline{Devices: []Device{{Kernels: 5, World: 2, Label: "rank 0", Parts: Parts{Span: 10, Compute: 8, Idle: 2}}}}
	two.review()
	none := &Timeline{}
	none.review()
	for _, c := range []struct {
		name string
		of   *Timeline
		key  string
		want string
		met  *bool
	}{
		{"healthy", well, "how-long", "AllReduce takes 20.00 ms and computation 80.00 ms a step (the median of 2 GPUs): 25.0 % of it.", nil},
		{"healthy", well, "overlap", "Partly: 95.0 % of communication runs beside computation (the median of 2 GPUs): overlap (interval). Of AllReduce and ReduceScatter, by which gradients come together, it is 95.0 %. " +
			"Overlap (wall clock), from the same times as (computation + communication - all) / communication, is 0 %; it counts idle time, 19.0 % of a step here", nil},
		{"healthy", well, "balance", "Yes: kernels compute 400.0 ms on rank 0, the least, and 404.0 ms on rank 1, the most, 0.5 % over the mean of 2 GPUs.", nil},
		{"healthy", well, "balance", "up to 2.0 % (ProfilerStep#1, rank 1)", nil},
		{"healthy", well, "identify", "Yes: 100 calls on 2 GPUs: all_reduce.", &yes},
		{"healthy", well, "overhead", "1.0 % of the time of a step is communication that nothing hides, and 20.0 % is communication in all (the median of 2 GPUs). 5 % of it is waiting for other ranks", &yes},
		{"healthy", well, "overlap-found", "Yes: 19.00 ms of 20.00 ms of communication a step are hidden, 1.000 ms are not.", &yes},
		{"healthy", well, "improve", "Nothing stands out", nil},
		{"healthy", well, "time-outs", "NCCL_IB_TIMEOUT is that of InfiniBand's packets. The longest call here took 2.000 ms (rank 0).", nil},
		{"a call of a minute", long, "time-outs", "NCCL has no NCCL_TIMEOUT", nil},
		{"a call of a minute", long, "time-outs", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", nil},
		{"one stream", slow, "overlap-found", "100 % of it runs where most of the computing is too (stream 7)", &yes},
		{"late", late, "overlap", "No: 0.0 %", nil},
		{"late", late, "balance", "No: kernels compute 25.00 ms on rank 0, the least, and 40.00 ms on rank 2, the most, 39.1 % over the mean of 4 GPUs.", nil},
		{"late", late, "balance", "The others wait for rank 2", nil},
		{"late", late, "improve", "the most worthwhile is on balance, and gains 3.000 ms a step at most", &yes},
		{"late", late, "time-outs", "The longest call here took 4.000 ms (rank 0).", nil},
		{"one rank", alone, "how-long", "n/a: no communication ran. Computation takes 8.000 ms a recording.", nil},
		{"one rank", alone, "identify", "n/a: no communication ran, and one rank alone has none.", nil},
		{"one rank", alone, "overlap", "n/a", nil},
		{"one rank", alone, "balance", "n/a: one GPU was read", nil},
		{"one rank", alone, "overhead", "n/a", nil},
		{"one rank", alone, "overlap-found", "n/a", nil},
		{"one rank", alone, "improve", "n/a", nil},
		{"two ranks without communication", two, "identify", "No: no kernel is known as communication, though there are several ranks.", &no},
		{"nothing", none, "how-long", noGPU, nil},
		{"nothing", none, "identify", noGPU, nil},
	} {
		a := c.of.answer(c.key)
		if !strings.Contains(a.Says, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.name, c.key, a.Says, c.want)
		}
		if (a.Met == nil) != (c.met == nil) || a.Met != nil && *a.Met != *c.met {
			t.Errorf("%s, %s: met is not %v", c.name, c.key, c.met)
		}
	}
	if a := well.answer("time-outs"); strings.Contains(a.Says, "HEARTBEAT") {
		t.Errorf("where no call is near a time-out: %q", a.Says)
	}
}

// Calls that run at the same time take longer summed than together: then both figures are said, though nothing but AllReduce communicates.
func TestHowLongAllReduceIs(t *testing.T) {
	all := Device{Kernels: 5, Label: "rank 0", Parts: Parts{Span: 100, Compute: 50, Comm: 40, Idle: 10}, Collectives: []Collective{{Name: "all_reduce", Calls: 2, Sum: 40}}}
	together := all
	together.Comm, together.Idle = 20, 30
	for _, c := range []struct {
		of   Device
		want string
	}{
		{all, "AllReduce takes 40.00 ms and computation 50.00 ms a recording: 80.0 % of it. It is all of the communication."},
		{together, "AllReduce takes 40.00 ms and computation 50.00 ms a recording: 80.0 % of it. All communication takes 20.00 ms and computation 50.00 ms a recording: 40.0 % of it."},
	} {
		l := &Timeline{Devices: []Device{c.of}}
		if got := l.typically().howLong(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
