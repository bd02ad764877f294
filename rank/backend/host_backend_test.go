package backend

import (
	"testing"

	"busbar/internal/coll"
)

// The libraries on the host have all types but those of eight bits, and all reductions but NCCL's own, under the same
// names.
func TestHostWords(t *testing.T) {
	checkWords(t, glooWords)
	checkWords(t, mpiWords)
}

func checkWords[T interface {
	word
	Size() int64
}, O word](t *testing.T, w hostWords[T, O]) {
	t.Helper()
	for _, d := range coll.DataTypes() {
		its, has := w.types[d]
		if wanted := d < coll.Float8E4M3; has != wanted ||
			has && (its.String() != d.String() || its.Size() != int64(d.Size())) {
			t.Errorf("%s: %s is %v of %d bytes, %t", w.library, d, its, its.Size(), has)
		}
	}
	for _, o := range coll.RedOps() {
		its, has := w.ops[o]
		if wanted := o != coll.MulSum; has != wanted || has && its.String() != o.String() {
			t.Errorf("%s: %s is %v, %t", w.library, o, its, has)
		}
	}
	if _, has := w.ops[0]; !has {
		t.Errorf("%s cannot do what reduces nothing", w.library)
	}
}
