package backend

import (
	"busbar/internal/notice"
	"busbar/internal/result"
)

// What only some libraries have: optional interfaces of a library.
type (
	// Accelerator is a library that measures on the memory of GPUs, one for each rank.
	Accelerator interface {
		Library
		// Simulated reports whether the GPU is simulated, with device memory on the host.
		Simulated() bool
		// DescribeRank adds what is known of the GPU of a rank of the launch to its line in the file.
		DescribeRank(rank int, line *result.Rank)
		// Link is the PCIe link of the GPU of a rank of the launch; nil where it is unknown.
		Link(rank int) *result.PCIe
		// Links is how the GPUs and network ports of this host are connected; "" where it is unknown.
		Links() string
		// Graph is the number of operations in a CUDA graph where a measurement has so many iterations (0: as many as
		// it needs); 0: there are no graphs.
		Graph(iterations int) int
		// Adjusted describes the worlds that remain if a launch of that size has fewer GPUs than ranks; ""
		// where all that fit the launch are.
		Adjusted(worlds []int, size int) string
	}

	// Prepared is a backend that reports how long its parts took to set up.
	Prepared interface {
		Setup() []result.Setup
	}

	// Throttling is a backend that finds, as it is closed, the ranks whose device holds back its clocks; on rank 0.
	Throttling interface {
		Throttled() []result.Throttled
	}

	// Describer is a library that describes in the file how a run of so many iterations uses it.
	Describer interface {
		Describe(m *result.Method, iterations int)
	}

	// Warner is a library that warns of a world of these ranks of the launch.
	Warner interface {
		Warnings(world []int) []notice.Fact
	}

	// Connector is a library whose first operation of a collective connects the ranks, and is timed by itself.
	Connector interface {
		ConnectsAtFirstUse() bool
	}

	// Diagnoser is a library with a diagnosis of its own of a hang: a paragraph; "" where it has none.
	Diagnoser interface {
		Diagnose() string
	}
)

// SetupOf is how long the parts of a backend took to make ready.
func SetupOf(b Backend) []result.Setup {
	if p, ok := b.(Prepared); ok {
		return p.Setup()
	}
	return nil
}

// ThrottledOf are the ranks whose device held back its clocks as a backend was closed; on rank 0.
func ThrottledOf(b Backend) []result.Throttled {
	if t, ok := b.(Throttling); ok {
		return t.Throttled()
	}
	return nil
}

// Simulates reports whether a library is a simulation.
func Simulates(l Library) bool {
	a, ok := l.(Accelerator)
	return ok && a.Simulated()
}

// GraphOf is the number of operations in a CUDA graph of a library; 0: it has no graphs.
func GraphOf(l Library, iterations int) int {
	if a, ok := l.(Accelerator); ok {
		return a.Graph(iterations)
	}
	return 0
}
