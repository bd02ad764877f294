package main

// gpuOptions are the flags that belong to NCCL.
type gpuOptions struct {
	graph       int    // launches of a CUDA graph; 0: none
	alloc       string // driver or nccl; empty is driver
	register    string // none, buffer or window; empty is none
	ctaPolicy   int
	minCTAs     int
	maxCTAs     int
	algorithms  string // that NCCL may take; "": as it chooses
	nonBlocking bool
	path        bool // ask which way NCCL takes
	events      bool // the device's times beside the host's
}

// ncclFlag is the first flag on the command line that belongs to NCCL; "" for none.
func (o *Options) ncclFlag() string {
	g := o.GPU
	switch {
	case o.Like != "":
		return "--like " + o.Like
	case o.Profile:
		return "--profile-range"
	case g.path:
		return "--path"
	case g.graph > 0:
		return "--cudagraph"
	case g.alloc == "nccl":
		return "--alloc"
	case g.register != "" && g.register != "none":
		return "--register"
	case g.ctaPolicy > 0:
		return "--cta-policy"
	case g.minCTAs > 0:
		return "--min-ctas"
	case g.maxCTAs > 0:
		return "--max-ctas"
	case g.algorithms != "":
		return "--algo"
	case g.nonBlocking:
		return "--nonblocking"
	case g.events:
		return "--events"
	case o.ShareGPU:
		return "--allow-shared-gpu"
	}
	return ""
}

// graphOperations is the number of operations in a CUDA graph when -n does not say.
const graphOperations = 20
