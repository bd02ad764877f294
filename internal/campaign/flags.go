package campaign

import "strings"

// letters are the flags of rank that are one letter too, under their long names.
var letters = map[string]string{
	"a": "average", "b": "minbytes", "c": "check", "d": "datatype", "e": "maxbytes", "f": "stepfactor", "g": "ngpus",
	"G": "cudagraph",
	"h": "help", "i": "stepbytes", "m": "agg-iters", "n": "iters", "N": "run-cycles", "o": "op", "r": "root",
	"R": "local-register",
	"t": "nthreads", "T": "timeout", "w": "warmup-iters", "x": "cta-policy",
}

// others are flags and variables that set what a flag of another name sets.
var others = map[string]string{"--local-register": "--register", "--timeout": "--deadline",
	"GLOO_SOCKET_IFNAME": "--gloo-iface"}

// FlagName is what a flag of rank, or a variable, sets, however it is spelled: --iters of -n, -n20 and --iters=20.
func FlagName(word string) string {
	name, _, _ := strings.Cut(word, "=")
	if strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && len(name) > 1 {
		if long, known := letters[name[1:2]]; known {
			name = "--" + long
		}
	}
	if strings.HasPrefix(name, "--") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	if other, known := others[name]; known {
		return other
	}
	return name
}
