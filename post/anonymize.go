package main

import (
	"errors"

	"github.com/spf13/cobra"

	"busbar/post/anonymizer"
	"busbar/post/usage"
)

func newAnonymize(to streams) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "anonymize -o DIR FILE|DIR...",
		Short:   "Copy files with hosts, addresses and users replaced",
		GroupID: "other",
		Long: `Copies logs, results and other text files into DIR, for a public bug report. A
host becomes host1, a user user1, and an address one of 198.18.0.0/15 or
2001:db8::/32: the same one always the same word, in all files, and addresses of
one /24 network stay in one. Files that are not text are left out and counted.

Names are taken from where logs, results and variables have them: look through
the copies before you publish them.`,
		Example: `  post anonymize -o public results logs`,
		Args:    atLeastOne("file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage.New(errors.New("post anonymize requires -o DIR"))
			}
			_, left, err := anonymizer.Copy(cmd.Context(), out, args)
			note(to.stderr, left)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the copies into this `DIR`")
	return cmd
}
