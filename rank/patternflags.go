package main

import (
	"busbar/internal/pattern"
	"busbar/rank/exit"
	"fmt"
	"strings"
)

// checkPattern refuses what does not go with --pattern, as far as flags say.
func (c *config) checkPattern() error {
	switch {
	case c.Pattern == "":
	case len(c.Flags.Worlds) > 0:
		return exit.Usagef("--pattern makes worlds of nodes by itself, and --worlds makes others: leave one of them out")
	case c.Cycles != 1:
		return exit.Usagef("--pattern measures every group once, and again where it is slow: leave out --run-cycles")
	case c.Flags.TimeLimit != nil:
		return exit.Usagef("--pattern compares all groups in one plan, which --time-limit would thin: make cases shorter with --budget; --list shows the rounds")
	case c.GPU.Events:
		return exit.Usagef("--pattern compares the times of the host's clock: leave out --events")
	case c.preflight:
		return exit.Usagef("--preflight measures nothing, --pattern included: leave one of them out")
	}
	return nil
}

// nearPattern reads the word of --pattern.
func nearPattern(s string, to *string) error {
	if err := oneOf(s, to, pattern.Kinds...); err != nil {
		return fmt.Errorf("%w (groups of nodes that measure at the same time: %s)", err, strings.Join(pattern.Kinds, ", "))
	}
	return nil
}
