package backend

// NCCLOptions are the flags that belong to NCCL.
type NCCLOptions struct {
	Graph       int    // launches of a CUDA graph; 0: none
	Alloc       string // driver or nccl; empty is driver
	Register    string // none, buffer or window; empty is none
	CTAPolicy   int
	MinCTAs     int
	MaxCTAs     int
	Algorithms  string // that NCCL may take; "": as it chooses
	NonBlocking bool
	Path        bool // ask which way NCCL takes
	Events      bool // the device's times beside the host's
}

// NCCLFlag is the first flag on the command line that belongs to NCCL; "" for none.
func (o *Options) NCCLFlag() string {
	g := o.GPU
	switch {
	case o.Like != "":
		return "--like " + o.Like
	case o.Profile:
		return "--profile-range"
	case g.Path:
		return "--path"
	case g.Graph > 0:
		return "--cudagraph"
	case g.Alloc == "nccl":
		return "--alloc"
	case g.Register != "" && g.Register != "none":
		return "--register"
	case g.CTAPolicy > 0:
		return "--cta-policy"
	case g.MinCTAs > 0:
		return "--min-ctas"
	case g.MaxCTAs > 0:
		return "--max-ctas"
	case g.Algorithms != "":
		return "--algo"
	case g.NonBlocking:
		return "--nonblocking"
	case g.Events:
		return "--events"
	case o.ShareGPU:
		return "--allow-shared-gpu"
	}
	return ""
}

// GraphOperations is the number of operations in a CUDA graph when -n does not say.
const GraphOperations = 20
