package analysis

import (
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/title"
)

func sizeOf(bytes int64) string { return coll.FormatSize(bytes, true) }

// sizes name a range of measured sizes: "64 KiB", "64 KiB to 1 MiB".
func sizes(from, to int64) string {
	if from == to {
		return sizeOf(from)
	}
	return sizeOf(from) + " to " + sizeOf(to)
}

// subject is what a sentence about a curve begins with: its title, without how other tools word their way of averaging.
func (c *Curve) subject() string {
	return c.Who + ", " + c.table().String() + ", " + c.where() +
		title.Unusual(&result.Method{Rotate: c.Rotate, Aggregate: c.Aggregate})
}

// group names all that a contender measured in one world.
func (c *Curve) group() string { return c.Who + ", " + ShapeOf(c.Condition).Words() }
