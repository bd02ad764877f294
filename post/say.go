package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// note says on stderr what is worth knowing about the files.
func note(stderr io.Writer, problems []notice.Notice) {
	for _, n := range problems {
		fmt.Fprintln(stderr, "post:", document.Printable(n.Full()))
	}
}

// resultFiles completes names of run files and folders.
func resultFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}

// rehearsedFlag adds --include-simulated.
func rehearsedFlag(cmd *cobra.Command, o *result.MergeOptions) {
	cmd.Flags().BoolVar(&o.IncludeRehearsed, "include-simulated", false, "include simulated results beside measured ones")
}
