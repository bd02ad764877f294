package session

import (
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
)

func TestExitCodeOfPoints(t *testing.T) {
	for status, code := range map[result.Status]int{result.OK: 0, result.Skipped: 0, result.Unsupported: 0,
		result.OOM: 6, result.Failed: 6,
		result.Timeout: 6, result.Wrong: 3} {
		y := tally{}
		y.add(result.OK)
		y.add(status)
		test.EqOp(t, code, y.code(), test.Sprint(status))
	}
	y := tally{over: true}
	y.add(result.OK)
	test.EqOp(t, 143, y.code())
}
