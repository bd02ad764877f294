package trace

import (
	"context"
	"path/filepath"
	"strings"

	"busbar/internal/notice"
)

// session is what an export tells of the recording as a whole.
type session struct {
	host        string
	origin      int64             // nanoseconds since 1970 of time 0; Unknown
	stop        int64             // when recording ended; NoTime
	environment map[string]string // of the program that was launched
	report      string            // name of the report that was exported
	shifted     bool              // times were shifted when it was exported
	tool        string            // that made the export
}

// readSession reads the small tables about the recording.
func readSession(ctx context.Context, db *database) (session, error) {
	s := session{origin: Unknown, stop: NoTime, environment: map[string]string{}}
	for _, read := range []func(context.Context, *database) error{
		s.readExport, s.readCapture, s.readSystem, s.readOrigin,
	} {
		if err := read(ctx, db); err != nil {
			return s, err
		}
	}
	return s, nil
}

// readExport reads who made the export, and of what.
func (s *session) readExport(ctx context.Context, db *database) error {
	product, version := "Nsight Systems", ""
	err := db.scan(ctx, "META_DATA_EXPORT", "", []string{"name", "value"}, func(r row) {
		switch r.text(0) {
		case "EXPORT_PRODUCT_NAME":
			product = strings.TrimPrefix(r.text(1), "NVIDIA ")
		case "EXPORT_PRODUCT_VERSION":
			version = shortVersion(r.text(1))
		case "EXPORT_PARAM_INPUT_FILE":
			s.report = filepath.Base(r.text(1))
		case "EXPORT_PARAM_TIME_SHIFT":
			s.shifted = r.text(1) != "0" && r.text(1) != ""
		}
	})
	s.tool = strings.TrimSpace(product + " " + version)
	return err
}

// shortVersion leaves out the number of the build: 2026.2.1.210 is known as 2026.2.1.
func shortVersion(version string) string {
	parts := strings.SplitN(version, ".", 4)
	return strings.Join(parts[:min(3, len(parts))], ".")
}

// readCapture reads the environment of the program that was launched: lines NAME="value" of which there may be
// hundreds.
func (s *session) readCapture(ctx context.Context, db *database) error {
	return db.scan(ctx, "META_DATA_CAPTURE", "", []string{"name", "value"}, func(r row) {
		switch name := r.text(0); {
		case strings.HasSuffix(name, "ENVIRONMENT_VARIABLE"):
			if name, value, ok := strings.Cut(r.text(1), "="); ok {
				s.environment[name] = strings.Trim(value, `"`)
			}
		case name == "DEVICE_DISPLAY_NAME" && s.host == "":
			s.host = r.text(1)
		}
	})
}

// readSystem reads about the machine. Its DeviceEnvironment is that of Nsight Systems itself, which hands it on to what
// it launches.
func (s *session) readSystem(ctx context.Context, db *database) error {
	return db.scan(ctx, "TARGET_INFO_SYSTEM_ENV", "", []string{"name", "value"}, func(r row) {
		switch r.text(0) {
		case "Hostname":
			s.host = r.text(1)
		case "DeviceEnvironment":
			for word := range strings.SplitSeq(r.text(1), ";") {
				if name, value, ok := strings.Cut(word, "="); ok && s.environment[name] == "" {
					s.environment[name] = value
				}
			}
		}
	})
}

// readOrigin finds what time 0 is. Times are of the clock by which recording began at startTime (systemClockNs says the
// same in newer exports), and utcEpochNs is that moment on the calendar. An export with --ts-shift has times that
// nobody can tell from others, and one with --ts-normalize has times since 1970.
func (s *session) readOrigin(ctx context.Context, db *database) error {
	began, utc := int64(0), int64(Unknown)
	err := db.scan(ctx, "TARGET_INFO_SESSION_START_TIME", "", []string{"utcEpochNs", "systemClockNs"}, func(r row) {
		utc, began = r.or(0, Unknown), r.or(1, 0)
	})
	if err != nil {
		return err
	}
	err = db.scan(ctx, "ANALYSIS_DETAILS", "", []string{"startTime", "stopTime"}, func(r row) {
		began, s.stop = r.or(0, began), r.or(1, NoTime)
	})
	switch {
	case s.shifted || utc <= 0 || began < 0:
	case began > sinceEpoch:
		s.origin = 0
	default:
		s.origin = utc - began
	}
	return err
}

// sinceEpoch is a time that no clock counted from the start of a machine reaches: nanoseconds since 1970 in 2001.
const sinceEpoch = 1e18

// nameDevices finds the names of GPUs. TARGET_INFO_CUDA_DEVICE says which GPU a process calls by which number; without
// it the numbers of the machine are taken where all its GPUs are alike or the process sees all.
func (n *nsight) nameDevices(ctx context.Context, devices []*nsightDevice) error {
	names := map[int64]string{}
	err := n.db.scan(ctx, "TARGET_INFO_GPU", "", []string{"id", "name"}, func(r row) {
		if id, ok := r.int(0); ok {
			names[id] = r.text(1)
		}
	})
	if err != nil {
		return err
	}
	type cudaDevice struct{ pid, id int64 }
	gpus := map[cudaDevice]int64{}
	err = n.db.scan(ctx, "TARGET_INFO_CUDA_DEVICE", "", []string{"gpuId", "cudaId", "pid"}, func(r row) {
		gpus[cudaDevice{r.or(2, Unknown), r.or(1, Unknown)}] = r.or(0, Unknown)
	})
	for _, d := range devices {
		gpu, known := gpus[cudaDevice{d.device.Process, d.key.id}]
		switch {
		case known:
			d.device.GPU = names[gpu]
		case len(gpus) == 0 && n.session.environment["CUDA_VISIBLE_DEVICES"] == "":
			d.device.GPU = names[d.key.id]
		default:
			d.device.GPU = onlyName(names)
		}
	}
	return err
}

// onlyName is the name that all have; "" where they differ.
func onlyName(names map[int64]string) string {
	only, first := "", true
	for _, name := range names {
		if !first && name != only {
			return ""
		}
		only, first = name, false
	}
	return only
}

// lostWords are in what Nsight Systems says where its recording has holes, whatever severity it gives it.
var lostWords = []string{"lost", "dropped", "incomplete", "might be missing", "not all", "have not been collected",
	"were not collected", "overflow"}

// mostDiagnostics is how many messages of Nsight Systems are handed on.
const mostDiagnostics = 5

// readDiagnostics hands on warnings and errors of Nsight Systems, and what it says of events that it lost.
func (n *nsight) readDiagnostics(ctx context.Context) error {
	warning := int64(2)
	err := n.db.scan(ctx, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "", []string{"id", "name"}, func(r row) {
		if strings.EqualFold(r.text(1), "Warning") {
			warning = r.or(0, warning)
		}
	})
	if err != nil {
		return err
	}
	told, more := map[string]bool{}, 0
	err = n.db.scan(ctx, "DIAGNOSTIC_EVENT", "", []string{"severity", "text"}, func(r row) {
		text := strings.Join(strings.Fields(r.text(1)), " ")
		lost := saysLost(text)
		switch {
		case told[text] || text == "" || r.or(0, 0) < warning && !lost:
		case len(told) >= mostDiagnostics:
			more++
		default:
			told[text] = true
			n.file.note(notice.NsightWarning{Text: strings.TrimSuffix(text, "."), Lost: lost})
		}
	})
	if more > 0 {
		n.file.note(notice.MoreNsightWarnings{Warnings: more})
	}
	return err
}

func saysLost(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range lostWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
