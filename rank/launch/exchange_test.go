package launch

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"busbar/rank/exit"

	"github.com/shoenig/test"
)

// alone is a group of one rank.
type alone struct{ Comm }

func (alone) Rank() int { return 0 }

func (alone) Bcast([]byte, int) error { return nil }

func (alone) Gatherv(data []byte, _ int) ([][]byte, error) { return [][]byte{data}, nil }

func TestExchangeKeepsValues(t *testing.T) {
	type order struct {
		What   int32
		Budget time.Duration
		First  bool
		ID     [3]byte
	}
	want := order{7, 3 * time.Second, true, [3]byte{1, 2, 3}}
	got := want
	if err := Broadcast(alone{}, &got); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	names := map[string][]bool{"a": {true, false}}
	all, err := AllGatherJSON(alone{}, names)
	if err != nil || !reflect.DeepEqual(all, []map[string][]bool{names}) {
		t.Errorf("%+v, %v", all, err)
	}
	var text string
	test.Error(t, Broadcast(alone{}, &text))
}

func TestTogetherNamesLowestFailedRank(t *testing.T) {
	ranks := []RankFacts{{Rank: 0, Host: "a"}, {Rank: 1, Host: "b"}, {Rank: 2, Host: "c"}}
	x, y := exit.FailureOf(errors.New("x")), exit.FailureOf(errors.New("y"))
	for _, c := range []struct {
		all  []*exit.Failure
		want string
	}{
		{[]*exit.Failure{nil, nil, nil}, ""},
		{[]*exit.Failure{nil, x, y}, "rank 1 on b: x"},
		{[]*exit.Failure{nil, exit.FailureOf(errors.New("x")), x}, "rank 1 on b (and 1 more): x"},
		{[]*exit.Failure{y, exit.FailureOf(errors.New("y")), exit.FailureOf(errors.New("y"))}, "y"},
	} {
		err := firstFailure(c.all, ranks)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != c.want || exit.CodeOf(err) != exit.Environment {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := Together(alone{}, ranks[:1], errors.New("x")); err == nil || err.Error() != "x" {
		t.Errorf("a world of one: %v", err)
	}
}
