package ranges

import (
	"fmt"
	"testing"

	"github.com/shoenig/test"
)

func TestFormat(t *testing.T) {
	for want, numbers := range map[string][]int{
		"":          nil,
		"4":         {4},
		"1-2":       {1, 2},
		"1-3,5,7-8": {1, 2, 3, 5, 7, 8},
	} {
		test.EqOp(t, want, Format(numbers), test.Sprint(numbers))
	}
}

func TestNames(t *testing.T) {
	many := []string{}
	for i := range 20 {
		many = append(many, fmt.Sprintf("n%d", 3*i))
	}
	for want, names := range map[string][]string{
		"a":                                     {"a"},
		"node08-node11":                         {"node11", "node09", "node10", "node08"},
		"n8-n10":                                {"n8", "n9", "n10"},
		"n1, n3":                                {"n3", "n1"},
		"n01, n1":                               {"n1", "n01"},
		"a1-a2, b1":                             {"b1", "a1", "a2"},
		"ip-10-0-1-7-ip-10-0-1-8":               {"ip-10-0-1-8", "ip-10-0-1-7"},
		"b, x":                                  {"x", "b"},
		"":                                      {},
		"n0, n3, n6, n9, n12, n15, and 14 more": many,
	} {
		test.EqOp(t, want, Names(names), test.Sprint(names))
	}
}
