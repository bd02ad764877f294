package nccllog

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeCounts reads logs whose reading once took quadratic time: many ranks and communicators without an id, and
// many hosts with equal process numbers.
func TestLargeCounts(t *testing.T) {
	const many = 20000
	for name, line := range map[string]func(i int) string{
		"ranks": func(i int) string {
			return fmt.Sprintf("a:%d:2 [0] NCCL INFO comm 0x%x rank %d nranks %d cudaDev 0 busId 1 - Init COMPLETE\n",
				i, i, i,
				many)
		},
		"communicators": func(i int) string {
			return fmt.Sprintf(
				"a:1:2 [0] NCCL INFO comm 0x%x rank %d nranks 2 cudaDev 0 busId 1 - Init COMPLETE\na:1:9 [1] NCCL "+
					"INFO AllReduce: %d Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}\n", i, i%2, i)
		},
		"hosts": func(i int) string { return fmt.Sprintf("h%d:1:2 [0] NCCL INFO Using network Socket\n", i) },
	} {
		var b strings.Builder
		for i := range many {
			b.WriteString(line(i))
		}
		l := read(t, b.String())
		l.Findings()
		l.Facts()
		if name == "ranks" && (len(l.Communicators) != 1 || len(l.Communicators[0].Members) != many) {
			t.Errorf("%d communicators", len(l.Communicators))
		}
	}
}
