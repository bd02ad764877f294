package nccllog

import (
	"errors"
	"strings"
	"testing"
)

// seeds are small files of every form.
func seeds() []string {
	all := []string{inspectorFixture, rasTextFixture, "Job summary\nProcesses\nErrors\n# 0 0\n Rank 0\n",
		rasJSONFixture, glogFixture, costFixture,
		"[2026-05-05 06:16:47] a:1:1 [3] plugin/net.cc:334 (init) NCCL WARN Failed to initialize any NET plugin\n",
		"[1,0]<stdout>:a:1:1 [0] NCCL INFO Connected all trees\r\n\x1b[31m2: b:1:1 [0] NCCL INFO Connected all " +
			"rings\x1b[0m\x00\n",
		"a:1:1 [0] NCCL INFO === System : maxBw 20.0 totalBw 40.0 ===\na:1:1 [0] NCCL INFO + NVL[20.0] - " +
			"GPU/0-65000\na:1:1 [0] NCCL INFO GPU/1 :GPU/1 (0/5000.0/LOC) GPU/2 (1/40.0/NVL)\n",
	}
	for line := range strings.Lines(wholeLog()) {
		all = append(all, line, line[:len(line)/2]+line)
	}
	return all
}

// FuzzAdd checks for any bytes: no panic, every message counted once, valid indices, and a Log that JSON can
// represent.
func FuzzAdd(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader()
		for range 2 {
			if err := r.Add("x", strings.NewReader(text)); err != nil {
				var nothing *NothingError
				if !errors.As(err, &nothing) && !strings.HasPrefix(text, "\x1f\x8b") {
					t.Fatal(err)
				}
				return
			}
			consistent(t, r.Log())
		}
	})
}
