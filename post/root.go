package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/post/usage"
)

// version is set by the linker (-X main.version=…) in released builds.
var version string

// helpTemplate is a command's help: the manual, at most 80 columns wide.
//
//go:embed help.tmpl
var helpTemplate string

// newRoot builds the tree of commands.
func newRoot(to streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "post",
		Short: "Analyze results of rank, logs and traces.",
		Long: `Without a command, post detects the kind of each file: results of rank (show),
output of other benchmarks (import, show), NCCL logs (log), hung jobs (hang),
traces (timeline).

Commands for results read ./results, or the files and folders named, with their
subfolders. They also read runs that are incomplete. Results go to stdout,
everything else to stderr.`,
		Example: `  mpirun -np 4 rank && post report
  post all_reduce.log trace.json.gz
  post merge -o tables run1 run2`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if v, _ := cmd.Flags().GetBool("version"); v {
				fmt.Fprintln(to.stdout, versionLine())
				return nil
			}
			if len(args) > 0 {
				return anyFile(cmd, to, args)
			}
			return helpOnly(to.stderr)(cmd, nil)
		},
	}
	root.Flags().Bool("version", false, "print the version and what it was built with")
	root.SetOut(to.stdout)
	root.SetErr(to.stderr)
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if name == "include-rehearsed" { // the older name
			name = "include-simulated"
		}
		return pflag.NormalizedName(name)
	})
	root.SetHelpTemplate(helpTemplate)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(&cobra.Group{ID: "results", Title: "Commands for results"},
		&cobra.Group{ID: "job", Title: "Commands for a training job"},
		&cobra.Group{ID: "other", Title: "Other commands"})
	cobra.EnableCommandSorting = false // the first command is the usual one
	root.AddCommand(newReport(to), newShow(to), newCompare(to), newPlot(to), newExpect(to), newMerge(to),
		newImport(to), newExport(to), newCampaign(to), newTune(to), newTimeline(to), newLog(to), newHang(to),
		newExplain(to), newAnonymize(to))
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() {
			c.Args, c.RunE = knownCommand, helpOnly(to.stderr)
		}
	}
	wrongArguments(root)
	return root
}

// wrongArguments makes the errors of arguments those of a wrong call, for a command and those below it.
func wrongArguments(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error { return usage.New(check(cmd, args)) }
	}
	for _, below := range c.Commands() {
		wrongArguments(below)
	}
}

// helpOnly answers a call that names no command.
func helpOnly(stderr io.Writer) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(stderr)
		return errors.Join(cmd.Help(), errSaid)
	}
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err == nil {
				err = usage.New(knownCommand(of, rest))
			}
			if err != nil {
				return err
			}
			return of.Help()
		},
	}
}

// knownCommand returns the error of an unknown command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return coll.Unknown("command", args[0], names)
}

// flagError names the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		err = coll.Unknown("flag", "--"+unknown.GetSpecifiedName(), names)
	}
	return usage.New(err)
}

// toolName begins the version line, by which post knows a report as its own.
const toolName = "post, busbar"

// versionLine is the version, the commit where it is known, and the platform.
func versionLine() string {
	v, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " (" + s.Value[:min(12, len(s.Value))] + ")"
			}
		}
	}
	return fmt.Sprintf(toolName+" %s%s, %s %s/%s", cmp.Or(v, "development"), commit, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}
