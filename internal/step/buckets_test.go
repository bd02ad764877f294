package step

import (
	"fmt"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func bytesOf(buckets []Bucket, size int64) []int64 {
	var all []int64
	for _, k := range buckets {
		all = append(all, k.Params*size)
	}
	return all
}

// The first bucket and the number of buckets are what PyTorch's logs of ResNet-50 show, the second what its traces do
// (30.04 MiB).
func TestBucketsOfResNet50(t *testing.T) {
	m, err := Find("resnet50", nil)
	must.NoError(t, err)
	for _, c := range []struct {
		limit Cap
		first int64
		typ   coll.DataType
		want  []int64
	}{
		{25 << 20, FirstBucket, coll.Float32, []int64{8196000, 31502336, 26255360, 26550272, 9724160}},
		{25 << 20, FirstBucket, coll.BFloat16, []int64{4098000, 28878848, 18137216}},
		{25 << 20, 0, coll.Float32, []int64{30257056, 26255360, 28366848, 17348864}},
		{100 << 20, FirstBucket, coll.Float32, []int64{8196000, 94032128}},
		{All, FirstBucket, coll.Float32, []int64{102228128}},
		{1 << 40, 0, coll.Float32, []int64{102228128}},
	} {
		test.SliceEqOp(t, c.want, bytesOf(Buckets(m, c.typ, c.limit, c.first), int64(c.typ.Size())),
			test.Sprint(c.limit, c.first, c.typ))
	}
}

// layersOf returns layers with the given numbers of parameters.
func layersOf(params ...int64) *Model {
	m := &Model{Name: "test"}
	for i, p := range params {
		m.Layers = append(
			m.Layers,
			Layer{Name: fmt.Sprintf("layer%d", i+1), Params: p, Forward: 1, Backward: float64(i + 1)},
		)
	}
	return m
}

func TestUnusualBuckets(t *testing.T) {
	for _, c := range []struct {
		name  string
		m     *Model
		limit Cap
		first int64
		want  []Bucket
	}{
		{"a huge layer comes first", layersOf(1, 1, 1000), 8, 2, []Bucket{{2, 3, 1000, 1}, {0, 2, 2, 2}}},
		{"full at the cap and not behind it", layersOf(1, 2, 2, 2), 4, 4, []Bucket{{2, 4, 4, 2}, {0, 2, 3, 2}}},
		{"the first is smaller", layersOf(4, 4, 4, 4), 8, 4, []Bucket{{3, 4, 4, 1}, {1, 3, 8, 2}, {0, 1, 4, 1}}},
		{"each layer", layersOf(4, 4), PerLayer, 100, []Bucket{{1, 2, 4, 1}, {0, 1, 4, 1}}},
		{"each layer with parameters", layersOf(4, 0, 4), PerLayer, 0, []Bucket{{2, 3, 4, 1}, {0, 2, 4, 1}}},
		{"what computes alone belongs to what follows", layersOf(4, 4, 0, 0), 4, 0,
			[]Bucket{{1, 4, 4, 1}, {0, 1, 4, 1}}},
		{"what is left over has no parameters", layersOf(0, 0, 4), 4, 0, []Bucket{{2, 3, 4, 1}, {0, 2, 0, 0}}},
	} {
		test.SliceEqOp(t, c.want, Buckets(c.m, coll.Int8, c.limit, c.first), test.Sprint(c.name))
	}
}
