package sweeps

import (
	"fmt"
	"strings"
)

// setSizes applies --elements, or -b, -e, -f and -i, to a part. Unset values come from the part's range; a part without
// a range requires both -b and -e.
func (o *Overrides) setSizes(part *Part) error {
	var given []string
	for i, value := range []*int64{o.MinBytes, o.MaxBytes, o.StepFactor, o.StepBytes} {
		if value != nil {
			given = append(given, []string{"-b", "-e", "-f", "-i"}[i])
		}
	}
	flags := strings.Join(given, " ")
	switch {
	case len(o.Elements) > 0 && flags != "":
		return fmt.Errorf("--elements and %s exclude each other", flags)
	case o.StepFactor != nil && o.StepBytes != nil:
		return fmt.Errorf("-f %d and -i exclude each other", *o.StepFactor)
	case len(o.Elements) > 0:
		part.setSizes(listed(o.Elements, true), "flag --elements")
		return nil
	case flags == "":
		return nil
	}
	r, origin := part.Sizes, "flag "+flags
	ends := o.MinBytes != nil && o.MaxBytes != nil
	switch isRange := !r.Elements && len(r.List) == 0; {
	case !isRange && !ends:
		return fmt.Errorf("%s: the sweep has no range of sizes (it has %s): set both -b and -e",
			flags, r)
	case !isRange:
		r = Sizes{Factor: 2}
	case !ends || o.StepFactor == nil && o.StepBytes == nil:
		origin += ", " + originOf(part.origins, "sizes")
	}
	if o.MinBytes != nil {
		r.Begin = *o.MinBytes
	}
	if o.MaxBytes != nil {
		r.End = *o.MaxBytes
	}
	if o.StepFactor != nil {
		r.Factor, r.Step = *o.StepFactor, 0
	}
	if o.StepBytes != nil {
		r.Factor, r.Step = 0, *o.StepBytes
	}
	if err := r.check(); err != nil {
		return fmt.Errorf("%s: %w", flags, err)
	}
	part.setSizes(r, origin)
	return nil
}

func (p *Part) setSizes(s Sizes, origin string) {
	p.Sizes = s
	if s.Elements {
		p.origins["elements"] = origin
	} else {
		p.origins["sizes"] = origin
	}
}
