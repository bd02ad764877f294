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
	Start   bool   `json:"at_start,omitempty"`
	Backend string `json:"backend,omitempty"` // that it did not begin to measure,
	World   int    `json:"world,omitempty"`   // in a world of this size
	Points  int    `json:"points"`
}

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
	Queue bool   `json:"queue_known"`
	Jobs  int    `json:"jobs"`
	Limit string `json:"time_limit"` // of a job, as Slurm reads it
}

// CampaignQueued reports that the queue has all launches that are not done.
type CampaignQueued struct {
	Jobs int `json:"jobs"`
}

// CampaignDone reports that all launches are done.
type CampaignDone struct {
	Folder string `json:"folder"`
}

// TunerRows reports what post tune found.
type TunerRows struct {
	Rows   int `json:"rows"`
	Faster int `json:"faster"` // points
	Points int `json:"points"`
}

// ChoiceUnknown reports points that have no row in a tuner file, although a variant is faster.
type ChoiceUnknown struct {
	Points  int    `json:"points"`
	Variant string `json:"variant"`
}
