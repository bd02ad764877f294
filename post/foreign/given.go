package foreign

import (
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// Given is what a file does not tell, as said by who imports it. It never takes the place of what a file does tell.
type Given struct {
	World      int
	Collective coll.Collective
	Type       coll.DataType
	Placement  coll.Placement
	Mode       coll.Mode
	words      map[string]string // as said
}

// givenKeys are the names of what can be given.
var givenKeys = []string{"world", "collective", "type", "placement", "mode"}

// ParseGiven reads words of the form KEY=VALUE. The error names what is known.
func ParseGiven(words []string) (g Given, err error) {
	g.words = map[string]string{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return g, fmt.Errorf("%q: want KEY=VALUE, such as world=16", w)
		}
		switch key {
		case "world":
			if g.World, err = strconv.Atoi(value); err != nil || g.World < 1 {
				return g, fmt.Errorf("world %q: want a number of ranks from 1", value)
			}
		case "collective":
			g.Collective, err = coll.ParseCollective(value)
		case "type":
			g.Type, err = coll.ParseDataType(value)
		case "placement":
			g.Placement, err = coll.ParsePlacement(value)
		case "mode":
			g.Mode, err = coll.ParseMode(value)
		default:
			err = coll.Unknown("key", key, givenKeys)
		}
		if err != nil {
			return g, err
		}
		g.words[key] = value
	}
	return g, nil
}

// fill gives a case what it lacks, and notes in used which words were needed. The collective is lacking only where the
// operation has no name.
func (g Given) fill(c *coll.Case, operation string, used map[string]string) {
	use := func(key string, needed bool) bool {
		value, said := g.words[key]
		if needed && said {
			used[key] = value
		}
		return needed && said
	}
	if use("world", c.World == 0) {
		c.World = g.World
	}
	if use("collective", c.Collective == coll.Other && operation == "") {
		c.Collective = g.Collective
	}
	if use("type", c.Type == 0) {
		c.Type = g.Type
	}
	if use("placement", c.Placement == 0) {
		c.Placement = g.Placement
	}
	if use("mode", c.Mode == 0) {
		c.Mode = g.Mode
	}
}
