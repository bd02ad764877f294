package result

import (
	"fmt"
	"regexp"
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
	return Settings{Graph: m.Graph, Alloc: m.Alloc, Register: m.Register, Config: m.Config, Shared: m.Shared, Events: m.EventStep > 0}
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
		words = append(words, structName.ReplaceAllString(s.Config, ""))
	}
	if s.Shared {
		words = append(words, "sharing a GPU")
	}
	if s.Events {
		words = append(words, "with events")
	}
	return strings.Join(words, ", ")
}

// structName is what Config begins each structure of the library with; its fields say enough.
var structName = regexp.MustCompile(`ncclC\w+ \(\d+ bytes, version \d+\): `)
