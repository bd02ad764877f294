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
func (c *config) ncclFlag() string {
	o := c.gpu
	switch {
	case c.like != "":
		return "--like " + c.like
	case c.profile:
		return "--profile-range"
	case o.path:
		return "--path"
	case o.graph > 0:
		return "--cudagraph"
	case o.alloc == "nccl":
		return "--alloc"
	case o.register != "" && o.register != "none":
		return "--register"
	case o.ctaPolicy > 0:
		return "--cta-policy"
	case o.minCTAs > 0:
		return "--min-ctas"
	case o.maxCTAs > 0:
		return "--max-ctas"
	case o.algorithms != "":
		return "--algo"
	case o.nonBlocking:
		return "--nonblocking"
	case o.events:
		return "--events"
	case c.shareGPU:
		return "--allow-shared-gpu"
	}
	return ""
}

// graphOperations is the number of operations in a CUDA graph when -n does not say.
const graphOperations = 20
