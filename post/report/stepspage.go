package report

import "fmt"

// stepsPage is what the page's template takes from training steps.
type stepsPage struct{ *Steps }

// TableSays is what tables of steps are to be read with.
func (s *stepsPage) TableSays() string { return stepTableSays }

// stepRunPage is a run with the places of its parts on the page.
type stepRunPage struct {
	StepRun
	ID    string
	Parts []stepGroupPage
}

type stepGroupPage struct {
	StepGroup
	Listings []listing
}

// Numbered are the runs as they stand on the page.
func (s *stepsPage) Numbered() (all []stepRunPage) {
	for i, run := range s.Runs {
		one := stepRunPage{StepRun: run, ID: fmt.Sprintf("steps-%d", i+1)}
		for k, g := range run.Groups {
			one.Parts = append(one.Parts, stepGroupPage{g, g.listings(fmt.Sprintf("%s-%d", one.ID, k+1))})
		}
		all = append(all, one)
	}
	return all
}
