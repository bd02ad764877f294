package main

import (
	"github.com/spf13/cobra"

	"busbar/internal/result"
)

// resultFiles completes names of run files and folders.
func resultFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}

// rehearsedFlag adds --include-simulated.
func rehearsedFlag(cmd *cobra.Command, o *result.MergeOptions) {
	cmd.Flags().BoolVar(&o.IncludeRehearsed, "include-simulated", false, "include simulated results beside measured ones")
}
