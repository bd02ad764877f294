package launch

import (
	"reflect"
	"testing"
	"time"
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
	if err := Broadcast(alone{}, &text); err == nil {
		t.Error("a value of no fixed size was sent")
	}
}
