package trace_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// public is the expected content of a public trace: kernels, those with nccl in their name, and the span in
// microseconds.
type public struct {
	kernels, nccl, called int
	us                    float64
	rank, world           int
	bytes                 int64 // of its longest all-reduce; trace.Unknown
}

func TestPublicTraces(t *testing.T) {
	for name, want := range map[string][]public{
		"hta/nccl_parser_config_nccl_data.json.gz": {{2700, 21, 21, 660551.005, 0, 2, 31502336}},
		// of a PyTorch version that recorded no collectives
		"hta/df_index_resolver_df_index_resolver.json.gz": {{19370, 2020, 0, 1732965, 1, 2, trace.Unknown}},
		"hta/trace_filter_sampled_rank-0.json.gz":         {{1154, 10, 0, 1222847, 0, 128, trace.Unknown}},
		"tracelens/b200_eager_trace.json.gz":              {{768, 1, 1, 84487.178, 0, 8, trace.Unknown}},
		// of two processes, whose calls have no payloads; the first of 33 was launched before the recording
		"nsys/mfu_2gpu_before.sqlite": {{1993, 33, 32, 60411390.119, trace.Unknown, 0, trace.Unknown},
			{2017, 33, 32, 60410174.664, trace.Unknown, 0, trace.Unknown}},
		"hta/distributed_info_unavailable_distributed_info_not_found.json.gz": nil,
	} {
		t.Run(name, func(t *testing.T) {
			path := needs.Examples(t, filepath.Join("../../../shared/examples/traces", filepath.FromSlash(name)))[0]
			f, err := trace.Read(t.Context(), path, trace.Options{})
			must.NoError(t, err)
			must.EqOp(t, "", f.Cut)
			var got []public
			for _, d := range f.Devices {
				got = append(got, facts(d))
			}
			must.True(t, slices.Equal(want, got), must.Sprint(got))
			if want == nil {
				noted(t, f, profiles.NoGPUActivity{Format: profiles.Kineto})
			}
		})
	}
}

func facts(d *trace.Device) public {
	p := public{rank: d.Rank, world: d.World, bytes: trace.Unknown}
	for _, a := range d.Activities {
		p.us = max(p.us, float64(a.End)/1000)
		if a.Kind != trace.Kernel {
			continue
		}
		p.kernels++
		if strings.Contains(strings.ToLower(d.Names[a.Name]), "nccl") {
			p.nccl++
		}
		if a.Call != trace.Unknown {
			p.called++
			if c := d.Calls[a.Call]; c.What == coll.AllReduce {
				p.bytes = max(p.bytes, c.Bytes)
			}
		}
	}
	return p
}
