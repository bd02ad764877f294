package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// sbatch reads what jobs ask of Slurm.
func (r parser) sbatch(s *Sbatch, n *yaml.Node) {
	r.Mapping(n, "sbatch", jobKeys, nil, func(key string, _, v *yaml.Node) {
		switch key {
		case "time":
			s.Time = strictyaml.One(r.Reader, v, func(text string) (string, error) {
				_, err := limit(text)
				return text, err
			})
		case "throttle":
			s.Throttle = strictyaml.One(r.Reader, v, number("throttle", 1))
		case "options":
			s.Options = r.options(v)
		case "report":
			s.Report = append([]string{}, r.options(v)...)
		}
	})
}

// ownOptions are those that a campaign gives sbatch itself, with the key of a plan that sets them.
var ownOptions = map[string]string{
	"--nodes": "nodes", "-N": "nodes", "--ntasks-per-node": "ranks_per_node", "--ntasks": "ranks_per_node",
	"-n":     "ranks_per_node",
	"--time": "time", "-t": "time", "--array": "launches", "-a": "launches", "--job-name": "name", "-J": "name",
	"--dependency": "", "-d": "", "--output": "", "-o": "", "--error": "", "-e": "", "--wrap": "", "--parsable": "",
	"--export": "", // all, or jobs would not know whose they are
}

// options reads options of sbatch.
func (r parser) options(n *yaml.Node) []string {
	words := r.words(n)
	for _, w := range words {
		if err := checkOption(w); err != nil {
			r.Fail(n, err)
		}
	}
	return words
}

// CheckOptions says whether a campaign can be submitted with these options of sbatch.
func CheckOptions(words []string) error {
	for _, w := range words {
		if err := checkOption(w); err != nil {
			return err
		}
	}
	return nil
}

func checkOption(word string) error {
	option, _, _ := strings.Cut(word, "=")
	if !strings.HasPrefix(word, "--") && len(word) > 2 && word[0] == '-' {
		option = word[:2]
	}
	key, own := ownOptions[option]
	switch {
	case !own:
		return nil
	case key == "":
		return fmt.Errorf("%s is not for the options: the campaign sets it", option)
	}
	return fmt.Errorf("%s is not for the options: the key %s of the plan sets it", option, key)
}

// Limit is the longest that a job may take.
func (s Sbatch) Limit() time.Duration {
	d, _ := limit(s.Time) // it was read
	return d
}

var slurmTime = regexp.MustCompile(`^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$`)

// limit reads a time as Slurm does: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
// days-hours:minutes:seconds.
func limit(text string) (time.Duration, error) {
	m := slurmTime.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("time %q: want it as Slurm has it, such as 30 (minutes), 01:30:00 or 2-12 (days-hours)",
			text)
	}
	var n [4]int64 // days and three more
	for i := range n {
		n[i], _ = strconv.ParseInt(m[i+1], 10, 32) // digits, or nothing; too many give the largest number
	}
	units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
	if m[1] == "" && m[4] == "" { // minutes stand first
		n[1], n[2], n[3] = 0, n[1], n[2]
	}
	var d time.Duration
	for i, u := range units {
		d += time.Duration(n[i]) * u
	}
	if d <= 0 || slices.Max(n[:]) > 1e6 {
		return 0, fmt.Errorf("time %q: want more than nothing and less than a million", text)
	}
	return d, nil
}
