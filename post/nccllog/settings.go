package nccllog

import (
	"fmt"
	"regexp"
	"strings"
)

// set adds a setting. The key has a type of its own.
func (r *Reader) set(p *process, name, value, from, said string) bool {
	type key struct{ name, value, from string }
	p.by(&row(r, &r.log.Settings, key{name, value, from},
		Setting{Name: name, Value: value, From: from, Said: strings.TrimSpace(said)}).Processes)
	return true
}

// setLine is what sets a variable of NCCL, its plugins and what lies below them: "NCCL_P2P_DISABLE set by environment
// to 1.", "NET/OFI Setting NCCL_TOPO_FILE environment variable to /x.xml" of plugins, "NCCL_IB_HCA set to x".
var setLine = regexp.MustCompile(`^(.*?)\b([A-Z]{2,}_[A-Z0-9_]+)( set by env\w*| environment variable| set) to (.*)$`)

// readEnvironment reads what a variable was set to.
func readEnvironment(r *Reader, p *process, m message) bool {
	of := setLine.FindStringSubmatch(m.text)
	if of == nil {
		return false
	}
	before, name, value, from := of[1], of[2], valueOf(of[4]), "environment"
	switch of[3] {
	case " environment variable":
		from = "library"
		if word := firstWord(before); strings.Contains(word, "/") {
			from = strings.TrimRight(word, ":")
		}
	case " set": // NCCL_IB_HCA, NCCL_SOCKET_IFNAME and plugins, in NCCL's words for them; not within a sentence
		if before != "" && !strings.HasSuffix(before, "/Plugin: ") || strings.Contains(value, " ") {
			return false
		}
		value = firstWord(value)
	}
	return r.set(p, name, value, from, m.text)
}

// number is a whole number with the full stop that NCCL writes behind it.
var number = regexp.MustCompile(`^(-*\d+)\.$`)

// valueOf is what a variable was set to.
func valueOf(s string) string { return number.ReplaceAllString(strings.TrimSpace(s), "$1") }

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return strings.Trim(word, ".,;()'\"")
}

// What reads "TUNER/Plugin: Plugin name set by env to libnccl-tuner.so", and "Comm config Blocking set to 0", "Comm
// config nvlsCTAs reset to …".
var (
	readPlugin = sets(`^(\w+)/Plugin: Plugin name set by env to (.*)$`, "NCCL_%s_PLUGIN", "environment")
	readConfig = sets(`^Comm config (\S+) (?:re)?set to (.*)$`, "%s", "config")
)

// sets returns what reads a name and its value.
func sets(pattern, name, from string) lineReader {
	re := regexp.MustCompile(pattern)
	return func(r *Reader, p *process, m message) bool {
		of := re.FindStringSubmatch(m.text)
		return of != nil && r.set(p, fmt.Sprintf(name, of[1]), valueOf(of[2]), from, m.text)
	}
}
