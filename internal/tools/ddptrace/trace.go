package main

import "fmt"

// What the job is. Times are milliseconds.
const (
	world     = 2
	steps     = 8
	firstStep = 5 // as after wait and warm-up of the profiler's schedule

	stepTakes = 115.0
	late      = 4.0 // the data of rank 1
	pure      = 11.0
	bucket    = 6553600 // elements of 4 bytes: 25 MiB
)

// event is one event of a chrome trace; times are microseconds.
type event struct {
	Phase    string         `json:"ph"`
	Category string         `json:"cat"`
	Name     string         `json:"name"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Start    float64        `json:"ts"`
	Duration float64        `json:"dur"`
	Args     map[string]any `json:"args,omitempty"`
}

// trace is one rank's, while it is written.
type trace struct {
	rank        int
	correlation int
	sequence    int
	events      []event
}

// Processes, threads and streams as torch.profiler numbers them.
const (
	hostProcess = 4711
	hostThread  = 4711
	computing   = 7
	reducing    = 16
)

// step adds one step: forward, backward with two all-reduces beside it, and what the optimizer does once both are
// there.
func (t *trace) step(i int) {
	begin := float64(i) * stepTakes
	data := begin
	if t.rank == 1 {
		data += late
	}
	t.host("user_annotation", fmt.Sprintf("ProfilerStep#%d", firstStep+i), begin, stepTakes)
	t.host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", begin+0.002,
		data-begin+0.02)
	launch := data + 0.05
	next := func() float64 { launch += 0.02; return launch }
	at := data + 0.1
	for range 6 {
		t.kernel("gemm_forward", next(), at, 5)
		at += 5
	}
	begun := [2]float64{}
	for half := range 2 {
		for range 4 {
			t.kernel("gemm_backward", next(), at, 7.5)
			at += 7.5
		}
		begun[half] = at
	}
	for half, when := range begun { // both ranks end when the later one has had its time
		ends := begin + 0.1 + late + 60 + pure + float64(half)*30
		t.allReduce(next(), when, ends-when)
		at = ends
	}
	t.kernel("sgd_update", next(), at, 10)
}

// host adds what the host did.
func (t *trace) host(category, name string, start, took float64) {
	t.events = append(t.events, event{"X", category, name, hostProcess, hostThread, micro(start), micro(took), nil})
}

func (t *trace) kernel(name string, launched, start, took float64) {
	t.run(name, computing, launched, start, took, map[string]any{})
}

func (t *trace) allReduce(launched, start, took float64) {
	t.run("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", reducing, launched, start, took,
		map[string]any{
			"Collective name": "allreduce", "In msg nelems": bucket, "Out msg nelems": bucket, "Group size": world,
			"dtype":              "Float",
			"Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]",
			"Seq": t.sequence,
		})
	t.sequence++
}

// run adds a kernel and the call that launched it.
func (t *trace) run(name string, stream int, launched, start, took float64, args map[string]any) {
	t.correlation++
	t.events = append(t.events, event{"X", "cuda_runtime", "cudaLaunchKernel", hostProcess, hostThread, micro(launched),
		6,
		map[string]any{"correlation": t.correlation}})
	args["device"], args["stream"], args["context"], args["correlation"] = t.rank, stream, 1, t.correlation
	t.events = append(t.events, event{"X", "kernel", name, t.rank, stream, micro(start), micro(took), args})
}

// micro is milliseconds as microseconds, in whole nanoseconds.
func micro(ms float64) float64 { return float64(int64(ms*1e6+0.5)) / 1e3 }
