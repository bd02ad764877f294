package plot

import (
	"bytes"
	"strings"
	"testing"

	"busbar/internal/pattern"

	"github.com/shoenig/test/must"
)

// A matrix has its rows, columns and known values.
func TestMatrix(t *testing.T) {
	var svg bytes.Buffer
	m := pattern.Matrix{Rows: []string{"node1", "node2"}, Columns: []string{"0"}, Values: [][]float64{{48.1}, {0}}}
	must.NoError(t, matrixOf(Page{Title: "gpus"}, m).WriteSVG(&svg))
	for _, text := range []string{"node1", "node2", ">0<", "48.1"} {
		must.StrContains(t, svg.String(), text)
	}
	must.EqOp(t, 0, strings.Count(svg.String(), ">0.00<"))
}
