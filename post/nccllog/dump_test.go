package nccllog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDump(t *testing.T) {
	files, _ := filepath.Glob("/work/shared/examples/nccl-logs/*")
	for _, f := range files {
		r := NewReader()
		in, _ := os.Open(f)
		r.Add(f, in)
		in.Close()
		l := r.Log()
		b, _ := json.MarshalIndent(map[string]any{"log": l, "notices": l.Findings(), "facts": l.Facts()}, "", " ")
		os.WriteFile(os.Getenv("DUMP")+"-"+filepath.Base(f)+".json", b, 0o644)
	}
	for range 3 {
		start := time.Now()
		for range 20 {
			for _, f := range files {
				r := NewReader()
				in, _ := os.Open(f)
				r.Add(f, in)
				in.Close()
				r.Log()
			}
		}
		t.Log(time.Since(start))
	}
}
