package lib

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

var small = []string{"-np", "2", "--rehearse", "--quiet", "-e", "4K", "-n", "5", "--out", "o"}

func TestBaselineFromStartToReport(t *testing.T) {
	p := install(t)
	p.expect(0, "2 ranks", nil, "baseline.sh", append(small, "--sync", "volume")...)
	for _, at := range []string{"o/", "volume/"} {
		p.has(at+"profile_nccl-rehearsal_world2_*.jsonl", at+"merged.csv", at+"plots/*busbw*.png",
			at+"report.html", at+"machine.txt")
	}
	test.EqOp(t, 10, strings.Count(p.text("o/merged.csv"), "all_reduce"))
}

// A failed run also has a report, and baseline.sh exits with its code.
func TestBaselineOfARunThatFailed(t *testing.T) {
	p := install(t)
	p.expect(3, "exited with 3", []string{"BUSBAR_REHEARSAL_FAULT=wrong@rank=1,size=1024"}, "baseline.sh", small...)
	p.has("o/plots/*busbw*.png", "o/report.html")
}

// mpirun may exit with another code than rank; rank's code is in the results file, not in the file of ranks.
func TestBaselineRecordedCode(t *testing.T) {
	p := install(t)
	p.fake("ends-with-9", `mpirun "$@"; for f in o/profile_*.jsonl; do : >"${f%.jsonl}_ranks.jsonl"; done; exit 9`)
	p.expect(3, "exited with 3", []string{"MPIRUN=ends-with-9", "BUSBAR_REHEARSAL_FAULT=wrong@rank=1,size=1024"},
		"baseline.sh", small...)
}

func TestBaselineUsage(t *testing.T) {
	p := install(t)
	p.expect(1, "--out requires a value", nil, "baseline.sh", "--out")
	p.expect(1, "require -np", nil, "baseline.sh", "--host", "a:1,b:1")
	p.expect(1, "unknown flag", nil, "baseline.sh", append(small, "--nonsense")...)
	must.NoError(t, os.Remove(filepath.Join(p.top, "bin/rank")))
	p.expect(2, "make build", nil, "baseline.sh", small...)
}

// On the notice rank finishes the current case of an endless sweep, and results are copied. Another machine resumes.
func TestBaselineOnASpotInstance(t *testing.T) {
	p := install(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest/api/token":
			fmt.Fprint(w, "token")
		case "/latest/meta-data/instance-id":
			fmt.Fprint(w, "i-0123456789abcdef0")
		case "/latest/meta-data/spot/instance-action":
			if strings.Count(p.text("o/*.jsonl"), `"kind":"case"`) > 3 {
				fmt.Fprint(w, `{"action":"terminate","time":"2026-03-01T08:22:00Z"}`)
				return
			}
			http.NotFound(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	defer service.Close()
	endless := append(small, "--run-cycles", "0", "--spot", "--sync", "volume")
	p.expect(143, "spot notice", []string{"AWS_EC2_METADATA_SERVICE_ENDPOINT=" + service.URL}, "baseline.sh",
		endless...)
	test.StrContains(t, p.text("volume/*.jsonl"), `"outcome":"interrupted"`)
	must.NoError(t, os.RemoveAll(filepath.Join(p.dir, "o")))
	p.expect(0, "", nil, "sync-results.sh", "volume", "o")
	p.expect(0, "2 ranks", nil, "baseline.sh", append(small, "--resume")...)
	if files, _ := filepath.Glob(filepath.Join(p.dir, "o/profile_*.jsonl")); len(files) != 2 {
		t.Errorf("the first machine's file and the second's: %q", files)
	}
}
