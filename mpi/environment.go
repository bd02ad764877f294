package mpi

import "os"

// quietLibraries keeps the handlers for crashes that UCX and PSM install off those of the Go runtime, which turn a nil
// dereference into a panic that can be recovered. What the user has set stays.
func quietLibraries() {
	for _, v := range [][2]string{
		{"UCX_ERROR_SIGNALS", ""},
		{"UCX_DEBUG_SIGNO", ""},
		{"HFI_NO_BACKTRACE", "1"},
		{"IPATH_NO_BACKTRACE", "1"},
	} {
		if _, set := os.LookupEnv(v[0]); !set {
			_ = os.Setenv(v[0], v[1]) // fails only for names that are none
		}
	}
}
