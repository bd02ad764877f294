package result

import "testing"

func TestCrowded(t *testing.T) {
	for warning, want := range map[string]string{
		"oversubscribed: 4 ranks share 2 cores on vm: figures say nothing about speed":                                      "4 ranks share 2 cores on vm",
		"oversubscribed: so are 3 hosts more":                                                                               "so are 3 hosts more",
		"threads: a rank of Gloo has two, and vm has 2 CPUs for 2 ranks: small messages may take milliseconds; start fewer": "threads: a rank of Gloo has two, and vm has 2 CPUs for 2 ranks",
		"load: vm had a load average of 3.33 before the run; other work disturbs the figures":                               "",
	} {
		if got := (&Run{Warnings: []string{"first", warning}}).Crowded(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&Run{Method: Method{Shared: true}}).Crowded(); got != "ranks share a GPU" {
		t.Errorf("of a shared GPU: %q", got)
	}
}
