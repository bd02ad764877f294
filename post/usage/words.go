package usage

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
)

// Words returns the values of a flag, each once; md is short for markdown. The error is that of an unknown one, or that
// there are none.
func Words(flag string, values, known []string) (once []string, err error) {
	for _, v := range values {
		full := document.FullFormat(v)
		if !slices.Contains(known, full) {
			return nil, coll.Unknown(flag, v, known)
		}
		once = units.AddOnce(once, full)
	}
	if once == nil {
		return nil, fmt.Errorf("--%s names nothing; known: %s", flag, strings.Join(known, ", "))
	}
	return once, nil
}
