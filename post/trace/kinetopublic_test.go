package trace_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/post/trace"
)

const publicTraces = "../../../shared/examples/traces"

// public is what is known of a public trace: kernels, those whose name has nccl, and the span in microseconds.
type public struct {
	kernels, nccl, called int
	us                    string
	rank, world           int
	bytes                 int64 // of its longest all-reduce; trace.Unknown
}

func TestPublicTraces(t *testing.T) {
	for name, want := range map[string][]public{
		"hta/nccl_parser_config_nccl_data.json.gz": {{2700, 21, 21, "660551.005", 0, 2, 31502336}},
		"hta/df_index_resolver_df_index_resolver.json.gz": {{19370, 2020, 2020, "1732965.000", 1, 2,
			trace.Unknown}},
		"hta/trace_filter_sampled_rank-0.json.gz":             {{1154, 10, 10, "1222847.000", 0, 128, 107822144}},
		"hta/trace_filter_sampled_rank-1.json.gz":             {{1104, 10, 10, "1231186.000", 1, 128, 105033720}},
		"tracelens/b200_eager_trace.json.gz":                  {{768, 1, 1, "84487.178", 0, 8, trace.Unknown}},
		"param/dlrm_kineto.tar.gz:worker0_step_12.1694128201": {{245, 8, 8, "13009.000", 0, 8, 1576964}},
		// of two processes, whose calls have no payloads; the first of 33 was launched before the recording
		"nsys/mfu_2gpu_before.sqlite": {{1993, 33, 32, "60411390.119", trace.Unknown, 0, trace.Unknown},
			{2017, 33, 32, "60410174.664", trace.Unknown, 0, trace.Unknown}},
	} {
		path, member, _ := strings.Cut(name, ":")
		var got []public
		problems, err := trace.Each(context.Background(),
			needs.Examples(t, filepath.Join(publicTraces, filepath.FromSlash(path))), trace.Options{},
			func(read *trace.File) error {
				for _, d := range read.Devices {
					if strings.Contains(read.Path, member) && read.Cut == "" {
						got = append(got, facts(d))
					}
				}
				return nil
			})
		if err != nil || len(problems) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v; %v, %v", name, got, want, problems, err)
		}
	}
}

func facts(d *trace.Device) public {
	p := public{rank: d.Rank, world: d.World, bytes: trace.Unknown}
	end := int64(0)
	for _, a := range d.Activities {
		end = max(end, a.End)
		if a.Kind != trace.Kernel {
			continue
		}
		p.kernels++
		if strings.Contains(strings.ToLower(d.Names[a.Name]), "nccl") {
			p.nccl++
		}
		if a.Call != trace.Unknown {
			p.called++
			if c := d.Calls[a.Call]; c.What.String() == "all_reduce" {
				p.bytes = max(p.bytes, c.Bytes)
			}
		}
	}
	p.us = fmt.Sprintf("%d.%03d", end/1000, end%1000)
	return p
}

// All ranks of an archive are read, one after the other.
func TestPublicArchive(t *testing.T) {
	path := needs.Examples(t, filepath.Join(publicTraces, "param", "dlrm_kineto.tar.gz"))[0]
	ranks := map[int]bool{}
	problems, err := trace.Each(context.Background(), []string{path}, trace.Options{}, func(f *trace.File) error {
		ranks[only(t, f).Rank] = true
		return nil
	})
	if err != nil || len(problems) > 0 || len(ranks) != 8 {
		t.Errorf("ranks %v, problems %v, %v", ranks, problems, err)
	}
}

func TestPublicTraceWithoutGPU(t *testing.T) {
	path := needs.Examples(t,
		filepath.Join(publicTraces, "hta", "distributed_info_unavailable_distributed_info_not_found.json.gz"))[0]
	f, err := trace.Read(context.Background(), path, trace.Options{})
	if err != nil || len(f.Devices) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	said(t, f, notice.NoGPUActivity{Format: notice.Kineto})
}
