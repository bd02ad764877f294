package nccllog

import (
	"regexp"
	"strings"
)

// setKey tells settings apart.
type setKey struct{ name, value, from string }

// setting is a setting while it is read.
type setting struct {
	Setting
	who who
}

// maxSettings is how many are kept.
const maxSettings = 1 << 13

func (r *Reader) set(p *process, name, value, from, said string) {
	key := setKey{name, value, from}
	s := r.settings[key]
	if s == nil {
		if len(r.settings) >= maxSettings {
			return
		}
		s = &setting{Setting: Setting{Name: kept(name), Value: kept(value), From: kept(from), Said: kept(said)}}
		r.settings[setKey{s.Name, s.Value, s.From}] = s
	}
	s.who.add(p)
}

// variable is the name of a variable of NCCL, its plugins and what lies below them.
var variable = regexp.MustCompile(
	`\b(?:NCCL|NCCLX|RCCL|OFI|FI|UCX|SHARP|CUDA|HSA|HIP|ROCR|GPU|MSCCL)_[A-Z][A-Z0-9_]*[A-Z0-9]\b`)

// setBy is behind the name of a variable: the environment, or what writes the line, sets it.
var setBy = regexp.MustCompile(`^ (?:(set by) env(?:ironment)?|environment variable) to (.*)$`)

// environment reads what a variable was set to: "NCCL_P2P_DISABLE set by environment to 1.", "Setting NCCL_TOPO_FILE
// environment variable to /x.xml" of plugins, "Plugin name set by env to x", "NCCL_IB_HCA set to x", "NCCL_X=1".
func (r *Reader) environment(p *process, m message) verdict {
	if strings.IndexByte(m.text, '_') < 0 {
		return unknown
	}
	at := variable.FindStringIndex(m.text)
	if at == nil {
		return unknown
	}
	name, rest := m.text[at[0]:at[1]], m.text[at[1]:]
	said := strings.TrimSpace(m.text)
	if set := setBy.FindStringSubmatch(rest); set != nil {
		from := "environment"
		if set[1] == "" {
			from = speaker(m.text[:at[0]])
		}
		r.set(p, name, valueOf(set[2]), from, said)
		return understood
	}
	value, from := "", "mention"
	switch {
	case strings.HasPrefix(rest, "=") && strings.HasSuffix(m.text[:at[0]], "without "):
		return passed // RCCL: what is off because it was not set
	case strings.HasPrefix(rest, "="):
		value = firstWord(rest[1:])
	case strings.HasPrefix(rest, " set to "):
		value = firstWord(rest[len(" set to "):])
		alone := !strings.Contains(strings.TrimSpace(rest[len(" set to "):]), " ") // not "set to default value 0"
		if alone && (at[0] == 0 || strings.HasSuffix(m.text[:at[0]], "/Plugin: ")) {
			from = "environment" // NCCL_IB_HCA, NCCL_SOCKET_IFNAME and plugins, in NCCL's words for them
		}
	}
	r.set(p, name, value, from, said)
	return understood
}

// valueOf is what a variable was set to; of numbers NCCL writes a full stop behind.
func valueOf(s string) string {
	s = strings.TrimSpace(s)
	if t := strings.TrimSuffix(s, "."); t != "" && run(t, min(1, len(t)-len(strings.TrimLeft(t, "-"))),
		"0123456789") == len(t) {
		return t
	}
	return s
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return strings.Trim(word, ".,;()'\"")
}

// speaker is who says a message: "NET/OFI" of "NET/OFI Running on P4d platform, Setting ".
func speaker(before string) string {
	if word := firstWord(before); strings.Contains(word, "/") {
		return strings.TrimRight(word, ":")
	}
	return "library"
}

// pluginNameSet is before the name of a plugin that a variable selects.
const pluginNameSet = "Plugin name set by env to "

// pluginByEnv reads "TUNER/Plugin: Plugin name set by env to libnccl-tuner.so".
func (r *Reader) pluginByEnv(p *process, m message) verdict {
	before, value, _ := strings.Cut(m.text, pluginNameSet)
	name := "NCCL_NET_PLUGIN"
	if kind, _, ok := strings.Cut(strings.TrimSpace(before), "/"); ok && letters(kind) {
		name = "NCCL_" + kind + "_PLUGIN"
	}
	r.set(p, name, valueOf(value), "environment", strings.TrimSpace(m.text))
	return understood
}

// configured reads what a configuration of a communicator says: "Comm config Blocking set to 0", "Comm config nvlsCTAs
// reset to …".
func (r *Reader) configured(p *process, m message) verdict {
	rest := strings.TrimPrefix(m.text, "Comm config ")
	name, value, ok := strings.Cut(rest, " set to ")
	if !ok {
		name, value, ok = strings.Cut(rest, " reset to ")
	}
	if !ok || strings.Contains(name, " ") {
		return unknown
	}
	r.set(p, name, valueOf(value), "config", strings.TrimSpace(m.text))
	return understood
}
