package main

import (
	"busbar/internal/notice"
	"busbar/internal/result"
)

// What only some libraries have: optional interfaces of a library.
type (
	// accelerator is a library that measures on the memory of GPUs, one for each rank.
	accelerator interface {
		library
		// simulated reports whether no GPU is there, and device memory is the host's.
		simulated() bool
		// describeRank adds what is known of the GPU of a rank of the launch to its line in the file.
		describeRank(rank int, line *result.Rank)
		// link is the PCIe link of the GPU of a rank of the launch; nil where it is unknown.
		link(rank int) *result.PCIe
		// links is how the GPUs and network ports of this host are connected; "" where it is unknown.
		links() string
		// eventStep is the resolution in seconds of the times that the device takes itself; 0: it takes none.
		eventStep() float64
		// graph is the number of operations in a CUDA graph where a measurement has so many iterations (0: as many as it
		// needs); 0: there are no graphs.
		graph(iterations int) int
		// adjusted says which of the worlds are left where there are fewer GPUs than ranks of a launch of that size; ""
		// where all that fit the launch are.
		adjusted(worlds []int, size int) string
	}

	// prepared is a backend that tells how long its parts took to make ready.
	prepared interface {
		setup() []result.Setup
	}

	// throttling is a backend that finds, as it is closed, the ranks whose device holds back its clocks; on rank 0.
	throttling interface {
		throttled() []result.Throttled
	}

	// describer is a library that describes in the file how a run of so many iterations uses it.
	describer interface {
		describe(m *result.Method, iterations int)
	}

	// warner is a library that warns of a world of these ranks of the launch.
	warner interface {
		warnings(world []int) []notice.Fact
	}

	// connecting is a library whose first operation of a collective connects the ranks, and is timed by itself.
	connecting interface {
		connectsAtFirstUse() bool
	}

	// diagnosing is a library with a diagnosis of its own of a hang: a paragraph; "" where it has none.
	diagnosing interface {
		diagnose() string
	}
)

// setupOf is how long the parts of a backend took to make ready.
func setupOf(b backend) []result.Setup {
	if p, ok := b.(prepared); ok {
		return p.setup()
	}
	return nil
}

// throttledOf are the ranks whose device held back its clocks as a backend was closed; on rank 0.
func throttledOf(b backend) []result.Throttled {
	if t, ok := b.(throttling); ok {
		return t.throttled()
	}
	return nil
}

// simulates reports whether a library is a simulation.
func simulates(l library) bool {
	a, ok := l.(accelerator)
	return ok && a.simulated()
}

// eventStepOf is the resolution of a library's own times in seconds; 0: it takes none.
func eventStepOf(l library) float64 {
	if a, ok := l.(accelerator); ok {
		return a.eventStep()
	}
	return 0
}

// graphOf is the number of operations in a CUDA graph of a library; 0: it has no graphs.
func graphOf(l library, iterations int) int {
	if a, ok := l.(accelerator); ok {
		return a.graph(iterations)
	}
	return 0
}
