package result

import (
	"fmt"
	"strings"
)

// Settings is what the library was asked for beyond its own way. Two times under different settings are of different
// things, as if they were of two libraries: they are compared, and never put together.
type Settings struct {
	Graph                   int
	Alloc, Register, Config string
	Shared, Events          bool
}

// Settings are those of the run.
func (m *Method) Settings() Settings {
	return Settings{Graph: m.Graph, Alloc: m.Alloc, Register: m.Register, Config: m.Config, Shared: m.Shared,
		Events: m.EventStep > 0}
}

// String names the settings that are not the default: "graphs of 20, window registered"; "" where all are.
func (s Settings) String() string {
	var words []string
	if s.Graph > 0 {
		words = append(words, fmt.Sprintf("graphs of %d", s.Graph))
	}
	if s.Alloc == "nccl" {
		words = append(words, "ncclMemAlloc")
	}
	if s.Register != "" {
		words = append(words, s.Register+" registered")
	}
	if s.Config != "" {
		words = append(words, configFields(s.Config))
	}
	if s.Shared {
		words = append(words, "sharing a GPU")
	}
	if s.Events {
		words = append(words, "with events")
	}
	return strings.Join(words, ", ")
}

// configFields is Config without the structures' names, sizes and versions: "ncclConfig_t (24 bytes, version 21400):
// blocking=0".
func configFields(config string) string {
	parts := strings.Split(config, "; ")
	for i, part := range parts {
		if head, rest, found := strings.Cut(part, "): "); found && strings.HasPrefix(head, "nccl") {
			parts[i] = rest
		}
	}
	return strings.Join(parts, "; ")
}
