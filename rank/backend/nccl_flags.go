package backend

import "busbar/cudart/nccl"

// NCCLOptions are the flags that belong to NCCL.
type NCCLOptions struct {
	nccl.Config        // of communicators
	Graph       int    // launches of a CUDA graph; 0: none
	Alloc       string // driver or nccl; empty is driver
	Register    string // none, buffer or window; empty is none
	Path        bool   // ask which way NCCL takes
}

// NCCLFlag is the first flag on the command line that requires NCCL, or "".
func (o *Options) NCCLFlag() string {
	g := o.GPU
	for _, f := range []struct {
		given bool
		flag  string
	}{
		{o.Like != "", "--like " + o.Like}, {o.Profile, "--profile-range"}, {g.Path, "--algorithms"},
		{g.Graph > 0, "--cudagraph"}, {g.Alloc == "nccl", "--alloc"},
		{g.Register != "" && g.Register != "none", "--register"}, {g.CTAPolicy > 0, "--cta-policy"},
		{g.MinCTAs > 0, "--min-ctas"}, {g.MaxCTAs > 0, "--max-ctas"}, {o.ShareGPU, "--allow-shared-gpu"},
	} {
		if f.given {
			return f.flag
		}
	}
	return ""
}

// GraphOperations is the number of operations in a CUDA graph without -n.
const GraphOperations = 20
