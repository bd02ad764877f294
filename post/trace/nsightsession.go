package trace

import (
	"path/filepath"
	"strings"

	"busbar/internal/notice/profiles"
)

// session is what an export records of the recording as a whole.
type session struct {
	host        string
	origin      int64             // nanoseconds since 1970 of time 0; Unknown
	stop        int64             // when recording ended; NoTime
	environment map[string]string // of the program that was launched
	report      string            // name of the report that was exported
	tool        string            // that made the export
}

// readSession reads the small tables about the recording.
func (n *nsight) readSession() {
	s := session{origin: Unknown, stop: NoTime, environment: map[string]string{}}
	export := n.pairs("META_DATA_EXPORT")
	if file := export["EXPORT_PARAM_INPUT_FILE"]; file != "" {
		s.report = filepath.Base(file)
	}
	s.tool = strings.TrimSpace("Nsight Systems " + shortVersion(export["EXPORT_PRODUCT_VERSION"]))
	s.host = n.pairs("TARGET_INFO_SYSTEM_ENV")["Hostname"]
	n.scan("META_DATA_CAPTURE", nameValue, func(r row) {
		name, value, _ := strings.Cut(r.text(1), "=")
		if strings.HasSuffix(r.text(0), "ENVIRONMENT_VARIABLE") { // NAME="value"
			s.environment[name] = strings.Trim(value, `"`)
		}
	})
	n.readOrigin(&s)
	n.session = s
}

var nameValue = []string{"name", "value"}

// pairs are the values of a table by their names.
func (db *database) pairs(table string) map[string]string {
	values := map[string]string{}
	db.scan(table, nameValue, func(r row) { values[r.text(0)] = r.text(1) })
	return values
}

// shortVersion leaves out the number of the build: 2026.2.1.210 is known as 2026.2.1.
func shortVersion(version string) string {
	parts := strings.SplitN(version, ".", 4)
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// readOrigin finds what time 0 is: times are of the clock by which recording began at startTime, and utcEpochNs is that
// moment on the calendar.
func (n *nsight) readOrigin(s *session) {
	n.scan("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(r row) { s.origin = r.or(0, Unknown) })
	n.scan("ANALYSIS_DETAILS", []string{"startTime", "stopTime"}, func(r row) {
		s.stop = r.or(1, NoTime)
		if s.origin > 0 {
			s.origin -= r.or(0, 0)
		}
	})
}

// nameDevices finds the names of GPUs: the export has which GPU a process calls by which number.
func (n *nsight) nameDevices() {
	names := map[int64]string{}
	n.scan("TARGET_INFO_GPU", []string{"id", "name"}, func(r row) { names[r.or(0, Unknown)] = r.text(1) })
	gpus := map[deviceKey]string{}
	n.scan("TARGET_INFO_CUDA_DEVICE", []string{"gpuId", "cudaId", "pid"}, func(r row) {
		gpus[deviceKey{r.or(2, Unknown), r.or(1, Unknown)}] = names[r.or(0, Unknown)]
	})
	for _, d := range n.devices {
		d.device.GPU = gpus[deviceKey{d.device.Process, d.key.id}]
	}
}

// lostWords are in what Nsight Systems reports where its recording has holes, whatever severity it gives it.
var lostWords = []string{"lost", "dropped", "incomplete", "might be missing", "not all", "have not been collected",
	"were not collected", "overflow"}

// severeDiagnostic is the number that Nsight Systems gives warnings; errors come after it, and then what is verbose.
const severeDiagnostic = 2

// readDiagnostics hands on warnings and errors of Nsight Systems, and what it reports of events that it lost.
func (n *nsight) readDiagnostics() {
	n.scan("DIAGNOSTIC_EVENT", []string{"severity", "text"}, func(r row) {
		text := strings.TrimSuffix(strings.Join(strings.Fields(r.text(1)), " "), ".")
		lower, lost := strings.ToLower(text), false
		for _, word := range lostWords {
			lost = lost || strings.Contains(lower, word)
		}
		if text != "" && (lost || r.or(0, 0) >= severeDiagnostic) {
			n.file.note(profiles.NsightWarning{Text: text, Lost: lost})
		}
	})
}
