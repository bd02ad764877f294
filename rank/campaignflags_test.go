package main

import (
	"testing"

	"github.com/spf13/pflag"

	"busbar/internal/campaign"
)

// Plans of campaigns know every flag that is a letter too, so that two axes cannot set one by both.
func TestCampaignsKnowTheLetters(t *testing.T) {
	letters := 0
	newFlags(&config{}).VisitAll(func(f *pflag.Flag) {
		if f.Shorthand == "" {
			return
		}
		letters++
		if short, long := campaign.FlagName("-"+f.Shorthand+"1"), campaign.FlagName("--"+f.Name); short != long {
			t.Errorf("-%s is %s to a plan, and --%s is %s", f.Shorthand, short, f.Name, long)
		}
	})
	if letters == 0 {
		t.Error("no flag has a letter")
	}
}
