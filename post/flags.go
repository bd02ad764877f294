package main

import (
	"busbar/internal/result"
	"busbar/post/timeline"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// atLeastOne requires arguments.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s requires at least one %s to read", cmd.CommandPath(), what)
		}
		return nil
	}
}

// rehearsedFlag adds --include-simulated.
func rehearsedFlag(cmd *cobra.Command, o *result.MergeOptions) {
	cmd.Flags().BoolVar(&o.IncludeRehearsed, "include-simulated", false,
		"include simulated results beside measured ones")
}

// peakFlag adds --peak.
func peakFlag(cmd *cobra.Command, peaks *[]string) {
	cmd.Flags().StringArrayVar(peaks, "peak", nil,
		"peak bus bandwidth of the links, as `450GB/s`, or 48GB/s@nodes=2,collective=alltoall")
}

// anonymizeFlag adds --anonymize.
func anonymizeFlag(f *pflag.FlagSet, on *bool) {
	f.BoolVar(on, "anonymize", false, "replace hosts, addresses and users, each always by the same word")
}

// traceNames are regular expressions of names in traces.
type traceNames struct{ comm, step string }

func (n *traceNames) flags(f *pflag.FlagSet) {
	f.StringVar(&n.comm, "comm-pattern", "", "kernels whose name matches `REGEXP` are communication too")
	f.StringVar(&n.step, "step-pattern", "",
		"ranges whose name matches `REGEXP` are steps; else those of torch.profiler")
}

// set sets the options of a timeline.
func (n *traceNames) set(o *timeline.Options) (err error) {
	o.Tool = versionLine()
	if o.CommPattern, err = expression("comm-pattern", n.comm); err == nil {
		o.StepPattern, err = expression("step-pattern", n.step)
	}
	return err
}

// expression is the regular expression of a flag; nil where it is not given.
func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return re, nil
}

// resultFiles completes names of run files and folders.
func resultFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
}

// traceFiles completes names of traces and of folders.
func traceFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"json", "gz", "sqlite", "facts"}, cobra.ShellCompDirectiveFilterFileExt
}
