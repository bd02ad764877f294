package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const exitStatus = `  0  done; a torn last line or a passed-over file is a warning
  1  wrong usage
  2  nothing usable to read, or output that cannot be written
  7  --fail-above: points are slower or failed; --fail-on: notices are as severe
  130, 143  stopped by SIGINT (Ctrl-C) or SIGTERM; no file is half written
`

// helpText is a command's help: the manual, at most 80 columns wide.
func helpText(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\nUsage:\n  %s\n", cmd.Short, cmd.Long, usageLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, group := range cmd.Groups() {
		fmt.Fprintf(&b, "\n%s:\n", group.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintf(&b, "  %-12s%s\n", c.Name(), c.Short)
			}
		}
	}
	if !cmd.HasParent() || cmd.Parent().HasParent() || len(cmd.Commands()) == 0 {
		fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(80))
	}
	if len(cmd.Commands()) > 0 && cmd.HasParent() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			fmt.Fprintf(&b, "  %-12s%s\n", c.Name(), c.Short)
		}
	}
	fmt.Fprintf(&b, "\nExit status:\n%s", exitStatus)
	return b.String()
}

func usageLine(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return cmd.UseLine()
	}
	return "post COMMAND [flags] [FILE|DIR...]"
}
