package sweeps

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// setSizes puts --elements, or -b, -e, -f and -i over the sizes of a part. What is missing of a range comes from the
// part's own range; a part without one needs both -b and -e.
func (o *Overrides) setSizes(part *Part) error {
	given := o.rangeFlags()
	if len(o.Elements) > 0 {
		if len(given) > 0 {
			return fmt.Errorf("--elements and %s exclude each other", given[0])
		}
		part.setSizes(listed(o.Elements, true), "flag --elements")
		return nil
	}
	if len(given) == 0 {
		return nil
	}
	where := originOf(part.origins, "sizes")
	begin, end := "begin", "end"
	r := part.Sizes
	if !r.isByteRange() {
		if o.MinBytes == nil || o.MaxBytes == nil {
			return fmt.Errorf("%s: the sweep has no range of sizes that this could change (it has %s); give both -b "+
				"and -e", strings.Join(given, " "), part.Sizes)
		}
		r = Sizes{Factor: 2}
		where = ""
	}
	if o.MinBytes != nil {
		r.Begin, begin = *o.MinBytes, "-b"
	}
	if o.MaxBytes != nil {
		r.End, end = *o.MaxBytes, "-e"
	}
	if err := o.setGrowth(&r); err != nil {
		return err
	}
	name := func(what string, n int64) string {
		text := what + " " + coll.FormatSize(n, false)
		if !strings.HasPrefix(what, "-") {
			text += " (" + where + ")"
		}
		return text
	}
	switch {
	case r.Begin < 1:
		return fmt.Errorf("%s: want 1 or more", name(begin, r.Begin))
	case r.Begin > r.End:
		return fmt.Errorf("%s is larger than %s", name(begin, r.Begin), name(end, r.End))
	case r.tooMany():
		return fmt.Errorf("%s to %s by step %s are more than %d sizes", name(begin, r.Begin), name(end, r.End),
			coll.FormatSize(r.Step, false), maxPoints)
	}
	origin := "flag " + strings.Join(given, " ")
	if where != "" && (o.MinBytes == nil || o.MaxBytes == nil || (o.StepFactor == nil && o.StepBytes == nil)) {
		origin += ", " + where
	}
	part.setSizes(r, origin)
	return nil
}

// setGrowth puts -f and -i into a range; -f 1 means -i, as in nccl-tests.
func (o *Overrides) setGrowth(r *Sizes) error {
	factor, step := o.StepFactor, o.StepBytes
	if factor != nil && *factor == 1 && step != nil {
		factor = nil
	}
	switch {
	case factor != nil && step != nil:
		return fmt.Errorf("-f %d and -i %s exclude each other", *factor, coll.FormatSize(*step, false))
	case factor != nil && *factor < 2:
		return fmt.Errorf("-f %d: want 2 or more, or -i for steps of so many bytes", *factor)
	case step != nil && *step < 1:
		return fmt.Errorf("-i %d: want 1 or more", *step)
	case factor != nil:
		r.Factor, r.Step = *factor, 0
	case step != nil:
		r.Factor, r.Step = 0, *step
	}
	return nil
}

func (o *Overrides) rangeFlags() []string {
	var given []string
	for _, f := range []struct {
		flag  string
		value *int64
	}{{"-b", o.MinBytes}, {"-e", o.MaxBytes}, {"-f", o.StepFactor}, {"-i", o.StepBytes}} {
		if f.value != nil {
			given = append(given, f.flag)
		}
	}
	return given
}

func (p *Part) setSizes(s Sizes, origin string) {
	p.Sizes = s
	if s.Elements {
		p.origins["elements"] = origin
	} else {
		p.origins["sizes"] = origin
	}
}
