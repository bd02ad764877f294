package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/post/trace"
)

// rankKey identifies a device within a rank.
type rankKey struct{ rank, id int }

func compareRankKeys(a, b rankKey) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.id, b.id))
}

// ranksApart checks recordings with the same rank. A rank may have several recordings, one after another. Recordings
// from different hosts or processes, or that overlap in time, are of different ranks: file names may contain a local
// rank or a rank of another job. Their ranks become unknown.
func (b *Builder) ranksApart() {
	t := b.timeline
	of := map[rankKey][]int{}
	for i := range t.Devices {
		if d := &t.Devices[i]; d.Rank != nil && d.works() {
			key := rankKey{*d.Rank, d.ID}
			of[key] = append(of[key], i)
		}
	}
	var clashes []profiles.RankClash
	for _, key := range slices.SortedFunc(maps.Keys(of), compareRankKeys) {
		devices := of[key]
		clash := func(a int) bool {
			return slices.ContainsFunc(
				devices,
				func(b int) bool { return a < b && t.Devices[a].clashes(&t.Devices[b]) },
			)
		}
		if !slices.ContainsFunc(devices, clash) {
			continue
		}
		c := profiles.RankClash{Rank: key.rank}
		for _, i := range devices {
			t.Devices[i].named(trace.Unknown)
			c.Files = append(c.Files, t.Files[t.Devices[i].File].Path)
		}
		c.Files = slices.Compact(c.Files)
		clashes = append(clashes, c)
	}
	if clashes != nil {
		t.Notes = append(t.Notes, notice.New(profiles.SameRank{Ranks: clashes}))
	}
}

// clashes reports whether two devices cannot be consecutive recordings of one rank.
func (d *Device) clashes(o *Device) bool {
	if o.origin < d.origin {
		d, o = o, d
	}
	return d.Host != "" && o.Host != "" && d.Host != o.Host ||
		d.Process != nil && o.Process != nil && *d.Process != *o.Process ||
		d.origin != trace.Unknown && milliseconds(o.origin-d.origin) < d.Span
}
