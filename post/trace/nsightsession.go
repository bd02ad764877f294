package trace

import (
	"path/filepath"
	"regexp"
	"strings"

	"busbar/internal/notice/profiles"
)

// session holds an export's data on the recording as a whole.
type session struct {
	host        string
	origin      int64             // nanoseconds since 1970 of time 0; Unknown
	stop        int64             // end of the recording; NoTime
	environment map[string]string // environment of the launched program
	report      string            // file name of the exported report
	tool        string            // version of the exporter
}

// readSession reads the small tables on the recording.
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

// pairs returns the values of a table by name.
func (db *database) pairs(table string) map[string]string {
	values := map[string]string{}
	db.scan(table, nameValue, func(r row) { values[r.text(0)] = r.text(1) })
	return values
}

// shortVersion removes the build number: 2026.2.1.210 becomes 2026.2.1.
func shortVersion(version string) string {
	parts := strings.SplitN(version, ".", 4)
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// readOrigin finds the origin of times: they count from startTime in the recording's clock, and utcEpochNs is that
// moment in UTC.
func (n *nsight) readOrigin(s *session) {
	n.scan("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(r row) { s.origin = r.or(0, Unknown) })
	n.scan("ANALYSIS_DETAILS", []string{"startTime", "stopTime"}, func(r row) {
		s.stop = r.or(1, NoTime)
		if s.origin > 0 {
			s.origin -= r.or(0, 0)
		}
	})
}

// nameDevices sets the names of GPUs: the export maps each process's device numbers to GPUs.
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

// lostEvents are words of Nsight Systems' reports of lost events, of any severity.
var lostEvents = regexp.MustCompile(
	`(?i)lost|dropped|incomplete|might be missing|not all|(have not been|were not) collected|overflow`)

// severeDiagnostic is Nsight Systems' number for warnings; the next is errors, then verbose.
const severeDiagnostic = 2

// readDiagnostics reports Nsight Systems' warnings, errors and lost events.
func (n *nsight) readDiagnostics() {
	n.scan("DIAGNOSTIC_EVENT", []string{"severity", "text"}, func(r row) {
		text := strings.TrimSuffix(strings.Join(strings.Fields(r.text(1)), " "), ".")
		lost := lostEvents.MatchString(text)
		if text != "" && (lost || r.or(0, 0) >= severeDiagnostic) {
			n.file.note(profiles.NsightWarning{Text: text, Lost: lost})
		}
	})
}
