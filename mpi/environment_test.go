package mpi

import (
	"os"
	"testing"
)

func TestQuietLibraries(t *testing.T) {
	for _, name := range []string{"UCX_ERROR_SIGNALS", "UCX_DEBUG_SIGNO", "HFI_NO_BACKTRACE", "IPATH_NO_BACKTRACE"} {
		t.Setenv(name, "") // so that the test puts it back
		_ = os.Unsetenv(name)
	}
	t.Setenv("UCX_DEBUG_SIGNO", "SIGHUP")
	quietLibraries()
	for name, want := range map[string]string{"UCX_ERROR_SIGNALS": "", "UCX_DEBUG_SIGNO": "SIGHUP",
		"HFI_NO_BACKTRACE": "1"} {
		if got, set := os.LookupEnv(name); !set || got != want {
			t.Errorf("%s is %q (set: %t), want %q", name, got, set, want)
		}
	}
}
