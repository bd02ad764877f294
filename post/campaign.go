package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/campaign"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/campaigndoc"
	"busbar/post/input"
	"busbar/post/usage"
)

// campaigner is what the commands about campaigns were asked to do.
type campaigner struct {
	stdout, stderr io.Writer
	out, queued    string
	scripts        string
	order          bool
	nodes, task    int
	output         outputFlags // of show
}

func newCampaign(stdout, stderr io.Writer) *cobra.Command {
	c := &campaigner{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "campaign",
		Short:   "Plan launches to compare, and show which are missing",
		GroupID: "results",
		Long: `A plan in YAML lists the variants to compare, the numbers of nodes, and the
launches of each (docs/campaigns.md). slurm/campaign.sh submits it with these
commands. The state of a campaign is its results files alone.`,
	}
	cmd.AddCommand(c.showCommand(), c.checkCommand(), c.jobsCommand(), c.beginCommand(), c.stepsCommand())
	return cmd
}

// campaignWords are the help of a command: its one argument, a summary, a description and examples.
type campaignWords struct{ takes, short, long, example string }

const planOrFolder = "a plan, or the folder of a campaign"

// command makes one of the commands about campaigns.
func command(use string, run func(*cobra.Command, string) error, w campaignWords) *cobra.Command {
	return &cobra.Command{
		Use:     use,
		Short:   w.short,
		Long:    w.long,
		Example: w.example,
		Args:    oneArgument(w.takes),
		RunE:    func(cmd *cobra.Command, args []string) error { return run(cmd, args[0]) },
	}
}

func (c *campaigner) showCommand() *cobra.Command {
	cmd := command("show [flags] PLAN|DIR", c.show, campaignWords{takes: planOrFolder,
		short: "Show what is planned, done and missing, and the cost of the rest",
		long: `Prints a row for each number of nodes and variant, launches that are unfinished
or have points that failed, and the jobs of what is missing. A launch is
done when its files have an end that was not an interruption, also with points
that failed. Writes no file.`,
		example: `  post campaign show campaign.yaml
  post campaign show --format json results/nccl-228`,
	})
	c.output.flags(cmd.Flags())
	cmd.Flags().BoolVar(&c.order, "order", false, "also print the order of the launches in every job")
	c.queue(cmd)
	return c.folder(cmd)
}

func (c *campaigner) checkCommand() *cobra.Command {
	return c.folder(command("check [flags] PLAN|DIR", c.check, campaignWords{takes: planOrFolder,
		short: "Check a plan; print its id, and the flags of rank of each variant",
		long: `Prints the id of the campaign, and a line for each number of nodes and variant:
nodes, ranks per node (0: as the job decides), and its flags, quoted for a
shell. Errors in a plan are reported with their lines.`,
		example: `  post campaign check campaign.yaml`,
	}))
}

func (c *campaigner) jobsCommand() *cobra.Command {
	cmd := command("jobs [flags] PLAN|DIR [-- OPTIONS OF SBATCH]", c.jobs, campaignWords{
		short: "Print the commands that submit what is missing",
		long: `Prints a line for each array of jobs, in the order of submission, and one for
the job that reports at the end, which waits for the numbers in $jobs. Prints
nothing where nothing is missing. Writes no file.`,
		example: `  post campaign jobs campaign.yaml
  post campaign jobs --queued 2:1,2:3 campaign.yaml -- --partition=gpu`,
	})
	cmd.Args = planAndOptions
	cmd.Flags().StringVar(&c.scripts, "scripts", "slurm", "the folder of sweep.sh and campaign.sh is `DIR`")
	c.queue(cmd)
	return c.folder(cmd)
}

func (c *campaigner) beginCommand() *cobra.Command {
	return c.folder(command("begin [flags] PLAN", c.begin, campaignWords{takes: "a plan",
		short: "Create a campaign's folder, with the plan that its jobs read",
		long: `Writes plan.yaml, and campaign.json with the campaign's id, into its folder.
Refuses a plan that contradicts existing results.`,
		example: `  post campaign begin campaign.yaml`,
	}))
}

func (c *campaigner) stepsCommand() *cobra.Command {
	cmd := command("steps --nodes N --task I DIR", c.steps, campaignWords{takes: "the folder of a campaign",
		short: "Print the launches of one job that are not done",
		long: `Prints a line for each, in their order, quoted for a shell: the folder of its
results, NAME=VALUE for its environment, --, and the flags of rank.`,
		example: `  post campaign steps --nodes 2 --task 1 results/nccl-228`,
	})
	cmd.Flags().IntVar(&c.nodes, "nodes", 0, "nodes `N` of the job")
	cmd.Flags().IntVar(&c.task, "task", 0, "place `I` of the job in its array, from 1")
	return cmd
}

// folder adds the flag of the commands that look at a whole campaign.
func (c *campaigner) folder(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "the campaign's folder is `DIR` (default results/NAME)")
	return cmd
}

// queue adds the flag of the commands that count what was submitted.
func (c *campaigner) queue(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.queued, "queued", "", "jobs `LIST` are in the queue: NODES:TASK,…")
}

func planAndOptions(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); len(args) == 0 || at < 0 && len(args) > 1 || at > 1 || at == 0 {
		return usage.New(errors.New("post campaign jobs requires one plan or folder, and options of sbatch after --"),
			cmd.CommandPath())
	}
	return nil
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage.New(fmt.Errorf("requires %s, got %s", what, units.Count(len(args), "argument")),
				cmd.CommandPath())
		}
		return nil
	}
}

// open reads the plan or folder that was named.
func (c *campaigner) open(path string) (*campaign.Campaign, error) {
	return campaign.OpenPath(path, c.out, input.DefaultFolder)
}

func (c *campaigner) state(cmd *cobra.Command, path string) (*campaigndoc.State, error) {
	of, err := c.open(path)
	if err != nil {
		return nil, usage.New(err, cmd.CommandPath())
	}
	queued, err := campaign.ParseTasks(c.queued)
	if err != nil {
		return nil, usage.New(fmt.Errorf("--queued %w", err), cmd.CommandPath())
	}
	s, err := campaigndoc.Of(of, queued)
	if changed := (*campaigndoc.ChangedError)(nil); errors.As(err, &changed) {
		return nil, usage.New(err, cmd.CommandPath())
	}
	return s, err
}

func (c *campaigner) check(cmd *cobra.Command, path string) error {
	of, err := c.open(path)
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	fmt.Fprintln(c.stdout, of.ID)
	for _, nodes := range of.Nodes {
		for _, v := range of.Variants() {
			fmt.Fprintln(c.stdout, nodes, of.RanksPerNode, campaign.Quote(slices.Concat(of.Flags, v.Flags)))
		}
	}
	return nil
}

func (c *campaigner) jobs(cmd *cobra.Command, path string) error {
	options := cmd.Flags().Args()[1:] // behind --
	if err := campaign.CheckOptions(options); err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	s, err := c.state(cmd, path)
	if err != nil {
		return err
	}
	c.print(s.Commands(s.ToSubmit, c.scripts, options))
	return nil
}

func (c *campaigner) begin(cmd *cobra.Command, path string) error {
	of, err := c.open(path)
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	paths, texts, err := of.Files()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteTexts(context.WithoutCancel(cmd.Context()), paths, texts); err != nil {
		return err
	}
	if err := os.MkdirAll(of.LogDir(), 0o777); err != nil {
		return atomicfile.WriteError(of.LogDir(), err)
	}
	fmt.Fprintln(c.stdout, of.Dir)
	return nil
}

func (c *campaigner) steps(cmd *cobra.Command, dir string) error {
	of, err := c.open(dir)
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	lines, err := of.Steps(campaign.Task{Nodes: c.nodes, Index: c.task})
	c.print(lines)
	return err
}

func (c *campaigner) print(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(c.stdout, line)
	}
}

// show prints the state of a campaign.
func (c *campaigner) show(cmd *cobra.Command, path string) error {
	if err := c.output.Check(); err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	s, err := c.state(cmd, path)
	if err != nil {
		return err
	}
	doc, err := s.Document(c.order, cmd.Flags().Changed("queued"), c.output.Kept)
	if err != nil {
		return err
	}
	return c.output.write(doc, c.stdout)
}
