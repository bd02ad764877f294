package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// sbatch reads what jobs ask of Slurm.
func (r parser) sbatch(s *Sbatch, n *yaml.Node) {
	r.Mapping(n, "sbatch", jobKeys, func(key string, _, v *yaml.Node) {
		switch key {
		case "time":
			s.Time = strictyaml.One(r.Reader, v, limit)
		case "throttle":
			s.Throttle = strictyaml.One(r.Reader, v, number("throttle"))
		case "options":
			s.Options = r.options(v)
		case "report":
			s.Report = append([]string{}, r.options(v)...)
		}
	})
}

// ownOptions are those that a campaign gives sbatch itself, by the key of a plan that sets them. It exports all
// variables, or jobs would not know whose they are.
var ownOptions = map[string]string{
	"nodes": "--nodes -N", "ranks_per_node": "--ntasks-per-node --ntasks -n", "time": "--time -t",
	"launches": "--array -a", "name": "--job-name -J",
	"": "--dependency -d --output -o --error -e --wrap --parsable --export",
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

// CheckOptions reports whether a campaign can be submitted with these options of sbatch.
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
	for key, own := range ownOptions {
		switch {
		case !slices.Contains(strings.Fields(own), option):
		case key == "":
			return fmt.Errorf("%s is not for the options: the campaign sets it", option)
		default:
			return fmt.Errorf("%s is not for the options: the key %s of the plan sets it", option, key)
		}
	}
	return nil
}

var slurmTime = regexp.MustCompile(`^(\d+-)?\d+(:\d+){0,2}$`)

// limit reads a time as Slurm has it: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on.
func limit(text string) (string, error) {
	if !slurmTime.MatchString(text) {
		return "", fmt.Errorf(
			"time %q: expected the format of Slurm, such as 30 (minutes), 01:30:00 or 2-12 (days-hours)",
			text,
		)
	}
	return text, nil
}
