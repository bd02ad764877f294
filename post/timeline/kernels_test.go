package timeline

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"
)

//go:embed testdata/kernels.txt
var kernelLines string

// kernelNames are the kernels of testdata/kernels.txt by what they do.
var kernelNames = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(kernelLines) {
		what, kernel, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[what] = append(all[what], kernel)
	}
	delete(all, "#")
	return all
}()

func TestRecogniseKernels(t *testing.T) {
	for what, kernels := range kernelNames {
		for _, k := range append(kernels, "") {
			got := recognise(k)
			communicates := what != "within" && what != "compute" && k != ""
			must.True(t, got.comm == communicates && (!communicates || got.what.String() == what), must.Sprint(k, got))
		}
	}
}

func TestKernelTableRowsHaveExamples(t *testing.T) {
	used := map[int]bool{}
	for what, kernels := range kernelNames {
		for _, k := range kernels {
			f := functionOf(k)
			i := slices.IndexFunc(kernelTable(), func(row kernelRow) bool {
				return row.scope.MatchString(f.scope) && row.name.MatchString(f.name)
			})
			if what != "compute" {
				used[i] = true
			}
		}
	}
	must.EqOp(t, len(kernelTable()), len(used))
}
