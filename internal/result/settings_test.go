package result

import (
	"testing"

	"github.com/shoenig/test"
)

func TestSettings(t *testing.T) {
	for want, m := range map[string]Method{
		"":               {Alloc: "driver", Rotate: 1 << 20, Aggregate: 4, Average: "min over ranks"},
		"graphs of 20":   {Alloc: "driver", Graph: 20},
		"minCTAs=2":      {Config: "ncclConfig_t (40 bytes, version 21700): minCTAs=2"},
		"with events":    {EventStep: 1e-6},
		"sharing a GPU":  {Shared: true},
		"ncclMemAlloc":   {Alloc: "nccl"},
		"threads on 0-3": {Config: "threads on 0-3"},
		"graphs of 5, ncclMemAlloc, window registered, blocking=0; algSelection=ring forceAlgSelection=1": {Graph: 5,
			Alloc: "nccl", Register: "window",
			Config: "ncclConfig_t (24 bytes, version 21400): blocking=0; " +
				"ncclCollConfig_t (64 bytes, version 23100): algSelection=ring forceAlgSelection=1"},
	} {
		test.EqOp(t, want, m.Settings().String())
	}
}
