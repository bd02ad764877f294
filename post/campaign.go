package main

import (
	"context"
	"errors"
	"fmt"
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
	streams
	out, queued string
	scripts     string
	order       bool
	nodes, task int
	output      outputFlags // of show
}

func newCampaign(to streams) *cobra.Command {
	c := &campaigner{streams: to}
	cmd := &cobra.Command{
		Use:     "campaign",
		Short:   "Plan launches to compare, and show which are missing",
		GroupID: "results",
		Long: `A plan in YAML lists the variants to compare, the numbers of nodes, and the
launches of each (docs/campaigns.md). slurm/campaign.sh submits it with these
commands. The state of a campaign is its results files alone.`,
	}
	cmd.AddCommand(c.commands()...)
	return cmd
}

// commands are those below post campaign.
func (c *campaigner) commands() []*cobra.Command {
	show := &cobra.Command{
		Use:   "show [flags] PLAN|DIR",
		Short: "Show what is planned, done and missing, and the cost of the rest",
		Long: `Prints a row for each number of nodes and variant, launches that are unfinished
or have points that failed, and the jobs of what is missing. A launch is
done when its files have an end that was not an interruption, also with points
that failed. Writes no file.`,
		Example: `  post campaign show campaign.yaml
  post campaign show --format json results/nccl-228`,
		RunE: c.show,
	}
	c.output.flags(show.Flags())
	show.Flags().BoolVar(&c.order, "order", false, "also print the order of the launches in every job")
	check := &cobra.Command{
		Use:   "check [flags] PLAN|DIR",
		Short: "Check a plan; print its id, and the flags of rank of each variant",
		Long: `Prints the id of the campaign, and a line for each number of nodes and variant:
nodes, ranks per node (0: as the job decides), and its flags, quoted for a
shell. Errors in a plan are reported with their lines.`,
		Example: `  post campaign check campaign.yaml`,
		RunE:    c.check,
	}
	jobs := &cobra.Command{
		Use:   "jobs [flags] PLAN|DIR [-- OPTIONS OF SBATCH]",
		Short: "Print the commands that submit what is missing",
		Long: `Prints a line for each array of jobs, in the order of submission, and one for
the job that reports at the end, which waits for the numbers in $jobs. Prints
nothing where nothing is missing. Writes no file.`,
		Example: `  post campaign jobs campaign.yaml
  post campaign jobs --queued 2:1,2:3 campaign.yaml -- --partition=gpu`,
		Args: planAndOptions,
		RunE: c.jobs,
	}
	jobs.Flags().StringVar(&c.scripts, "scripts", "slurm", "the folder of sweep.sh and campaign.sh is `DIR`")
	begin := &cobra.Command{
		Use:   "begin [flags] PLAN",
		Short: "Create a campaign's folder, with the plan that its jobs read",
		Long: `Writes plan.yaml, and campaign.json with the campaign's id, into its folder.
Refuses a plan that contradicts existing results.`,
		Example: `  post campaign begin campaign.yaml`,
		RunE:    c.begin,
	}
	steps := &cobra.Command{
		Use:   "steps --nodes N --task I DIR",
		Short: "Print the launches of one job that are not done",
		Long: `Prints a line for each, in their order, quoted for a shell: the folder of its
results, NAME=VALUE for its environment, --, and the flags of rank.`,
		Example: `  post campaign steps --nodes 2 --task 1 results/nccl-228`,
		Args:    cobra.ExactArgs(1),
		RunE:    c.steps,
	}
	steps.Flags().IntVar(&c.nodes, "nodes", 0, "nodes `N` of the job")
	steps.Flags().IntVar(&c.task, "task", 0, "place `I` of the job in its array, from 1")
	for _, of := range []*cobra.Command{show, jobs} {
		of.Flags().StringVar(&c.queued, "queued", "", "jobs `LIST` are in the queue: NODES:TASK,…")
	}
	for _, of := range []*cobra.Command{show, check, jobs, begin} {
		of.Flags().StringVarP(&c.out, "out", "o", "", "the campaign's folder is `DIR` (default results/NAME)")
		if of.Args == nil {
			of.Args = cobra.ExactArgs(1)
		}
	}
	return []*cobra.Command{show, check, jobs, begin, steps}
}

func planAndOptions(cmd *cobra.Command, args []string) error {
	if at := cmd.ArgsLenAtDash(); len(args) == 0 || at < 0 && len(args) > 1 || at > 1 || at == 0 {
		return errors.New("post campaign jobs requires one plan or folder, and options of sbatch after --")
	}
	return nil
}

// open reads the plan or folder that was named.
func (c *campaigner) open(path string) (*campaign.Campaign, error) {
	of, err := campaign.OpenPath(path, c.out, input.DefaultFolder)
	return of, usage.New(err)
}

func (c *campaigner) state(path string) (*campaigndoc.State, error) {
	of, err := c.open(path)
	if err != nil {
		return nil, err
	}
	queued, err := campaign.ParseTasks(c.queued)
	if err != nil {
		return nil, usage.New(fmt.Errorf("--queued %w", err))
	}
	s, err := campaigndoc.Of(of, queued)
	if _, changed := errors.AsType[*campaigndoc.ChangedError](err); changed {
		return nil, usage.New(err)
	}
	return s, err
}

func (c *campaigner) check(_ *cobra.Command, args []string) error {
	of, err := c.open(args[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, of.ID)
	for _, nodes := range of.Nodes {
		for _, v := range of.Variants() {
			fmt.Fprintln(c.stdout, nodes, of.RanksPerNode, units.Shell(slices.Concat(of.Flags, v.Flags)...))
		}
	}
	return nil
}

func (c *campaigner) jobs(_ *cobra.Command, args []string) error {
	options := args[1:] // behind --
	if err := campaign.CheckOptions(options); err != nil {
		return usage.New(err)
	}
	s, err := c.state(args[0])
	if err != nil {
		return err
	}
	c.print(s.Commands(s.ToSubmit, c.scripts, options))
	return nil
}

func (c *campaigner) begin(cmd *cobra.Command, args []string) error {
	of, err := c.open(args[0])
	if err != nil {
		return err
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

func (c *campaigner) steps(_ *cobra.Command, args []string) error {
	of, err := c.open(args[0])
	if err != nil {
		return err
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
func (c *campaigner) show(cmd *cobra.Command, args []string) error {
	if err := c.output.Check(); err != nil {
		return usage.New(err)
	}
	s, err := c.state(args[0])
	if err != nil {
		return err
	}
	doc, err := s.Document(c.order, cmd.Flags().Changed("queued"), c.output.Kept)
	if err != nil {
		return err
	}
	return c.output.write(doc, c.stdout)
}
