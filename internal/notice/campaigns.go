package notice

// Notices on campaigns and their launches. docs/campaigns.md has the states of a launch.

// VariantAdded reports a variant that the plan did not have when the campaign began.
type VariantAdded struct {
	Variant string `json:"variant"`
}

// LaunchRefused reports that rank did not measure.
type LaunchRefused struct {
	Reason string `json:"reason"` // as the job script recorded it
}

// LaunchCutOff reports results without an end.
type LaunchCutOff struct {
	Start   AtStart `json:"at_start,omitempty"`
	Backend string  `json:"backend,omitempty"` // that it did not begin to measure,
	World   int     `json:"world,omitempty"`   // in a world of this size
	Points  int     `json:"points"`
}

// AtStart states that no file has a whole first line.
type AtStart bool

func (AtStart) String() string { return "at its start" }

// LaunchStopped reports results that end before the plan of the launch does.
type LaunchStopped struct {
	Outcome string `json:"outcome"` // interrupted, aborted
	Exit    int    `json:"exit_code"`
	Cause   Kept   `json:"cause,omitzero"`
	Points  int    `json:"points"`
}

// LaunchPointsFailed reports points without a valid value of a launch that is done.
type LaunchPointsFailed struct {
	Failed int `json:"failed"`
	Points int `json:"points"`
}

// CampaignJobs reports the jobs that lack a launch.
type CampaignJobs struct {
	Queue QueueKnown `json:"queue_known"`
	Jobs  int        `json:"jobs"`
	Limit string     `json:"time_limit"` // of a job, as Slurm reads it
}

// QueueKnown states that jobs in the queue are known, and not counted.
type QueueKnown bool

func (q QueueKnown) String() string {
	if q {
		return "to submit"
	}
	return "not done, queued ones included"
}

// CampaignQueued reports that the queue has all launches that are not done.
type CampaignQueued struct {
	Jobs int `json:"jobs"`
}

// CampaignDone reports that all launches are done.
type CampaignDone struct {
	Folder string `json:"folder"`
}

func (VariantAdded) Code() Code       { return "variant-added" }
func (LaunchRefused) Code() Code      { return "launch-refused" }
func (LaunchCutOff) Code() Code       { return "launch-cut-off" }
func (LaunchStopped) Code() Code      { return "launch-stopped" }
func (LaunchPointsFailed) Code() Code { return "launch-points-failed" }
func (CampaignJobs) Code() Code       { return "campaign-jobs" }
func (CampaignQueued) Code() Code     { return "campaign-queued" }
func (CampaignDone) Code() Code       { return "campaign-done" }

const (
	campaignSource   = "docs/campaigns.md"
	submitCampaign   = "run slurm/campaign.sh PLAN again"
	continuesLaunch  = "It continues the launch: points with status ok are not measured again."
	campaignContinue = "The campaign measures the rest of the launch when it is submitted again."
)

var campaigns = []Entry{
	{
		Example: VariantAdded{"ring"}, Severity: Warning, Source: campaignSource,
		Text: `the variant {Variant} is new: in blocks with results it runs later than the others, a bias that pairing
			cannot remove`,
		Doc: "The plan has a variant that the campaign's copy of the plan lacks.",
	},
	{
		Example: LaunchRefused{"code 1 in job 7_2"}, Severity: Error, Source: campaignSource,
		Text:   "rank refused to measure: {Reason}",
		Advice: "read the job's log in the folder log of the campaign, and correct the plan or the site's settings",
		Doc:    "The launch has no results, and the job script recorded the reason in refused.txt.",
	},
	{
		Example: LaunchCutOff{Backend: "gloo", World: 4, Points: 12}, Severity: Warning, Source: campaignSource,
		Text: `cut off[ {Start}][ before it measured {Backend} in a world of {World}], or still running; {Points point}
			recorded`,
		Advice: submitCampaign, How: continuesLaunch,
		Doc: "The last results file of the launch, or of one of its backends and worlds, has no end. " +
			campaignContinue,
	},
	{
		Example:  LaunchStopped{"interrupted", 143, Kept{RunSignalled{Signal: "SIGTERM"}}, 12},
		Severity: Warning, Source: campaignSource,
		Text:   "{Outcome} (code {Exit})[: {Cause}]; {Points point} recorded",
		Advice: submitCampaign, How: continuesLaunch,
		Doc: "The launch was interrupted or aborted. " + campaignContinue,
	},
	{
		Example: LaunchPointsFailed{2, 14}, Severity: Error, Source: campaignSource,
		Text:   "{Failed} of {Points point} failed or wrong",
		Advice: "read the reason of each point with post show; remove the launch's folder to measure it again",
		Doc: `The launch is done, and points of it have the status failed, wrong, timeout or oom. The campaign does not
			measure them again.`,
	},
	{
		Example: CampaignJobs{true, 4, "00:30:00"}, Severity: Info, Source: campaignSource,
		Text: "{Jobs job} {Queue}, each with a limit of {Limit}",
		Doc:  "Jobs with a launch that is not done. Without --queued, those in the queue count too.",
	},
	{
		Example: CampaignQueued{3}, Severity: Info, Source: campaignSource,
		Text: "nothing to submit: all missing launches are in the queue ({Jobs job})",
		Doc:  "Each launch is done or belongs to a job in the queue (--queued).",
	},
	{
		Example: CampaignDone{"results/nccl-228"}, Severity: Info, Source: campaignSource,
		Text:   "nothing is missing",
		Advice: "merge the results: post merge {Folder}",
		Doc:    "All launches of the plan are done, whatever the status of their points.",
	},
}
