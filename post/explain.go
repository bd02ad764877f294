package main

import (
	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/post/notices"
	"busbar/post/usage"
)

func newExplain(to streams) *cobra.Command {
	var format document.Format
	cmd := &cobra.Command{
		Use:     "explain [CODE...]",
		GroupID: "other",
		Short:   "List the codes of all notices, or document codes",
		Long: `Each warning, finding and problem has a code that never changes. Without CODE,
post explain lists all codes. With codes, it prints what each means, what to do
about it, and an example.`,
		Example: `  post explain
  post explain bandwidth-drop drift`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return notices.List().Write(to.stdout, format)
			}
			d, err := notices.Explain(args...)
			if err != nil {
				return usage.New(err)
			}
			return d.Write(to.stdout, format)
		},
	}
	formatFlag(cmd.Flags(), &format)
	return cmd
}
