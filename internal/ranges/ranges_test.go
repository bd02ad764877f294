package ranges

import "testing"

func TestFormat(t *testing.T) {
	for want, numbers := range map[string][]int{
		"":          nil,
		"4":         {4},
		"1-2":       {1, 2},
		"1-3,5,7-8": {1, 2, 3, 5, 7, 8},
	} {
		if got := Format(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
