// Package timeout holds the waits of rank for other ranks, launchers and filesystems after a failure.
package timeout

import (
	"strconv"
	"time"

	"busbar/rank/exit"
)

// BUSBAR_TIME_SCALE (0.1 to 100) multiplies these waits: above 1 for slow networks and filesystems, below 1 for tests.
var (
	// Ask is the maximum time for an answer on the side channel, or between two heartbeats in a host's shared memory.
	Ask time.Duration
	// OtherHosts is the wait before the end of a run for hosts that can only report their ranks on stderr.
	OtherHosts time.Duration
	// CloseFiles is the maximum time for closing the files.
	CloseFiles time.Duration
	// Abort is the wait for MPI_Abort before the process ends itself.
	Abort time.Duration
	// Meet is the maximum time for all ranks to meet by TCP: jobs of a cluster start minutes apart.
	Meet time.Duration
	// Names is the part of Meet in which the name of rank 0's host must become known: DNS of Kubernetes lags.
	Names time.Duration
	// RAS is the maximum time for an answer of NCCL's RAS service.
	RAS time.Duration
)

func init() { Scale(1) }

// Scale multiplies all waits except PassOn. It must run before any wait.
func Scale(scale float64) {
	for at, seconds := range map[*time.Duration]float64{&Ask: 2, &OtherHosts: 6, &CloseFiles: 3, &Abort: 5, &RAS: 3,
		&Meet: 300, &Names: 60} {
		*at = time.Duration(scale * seconds * float64(time.Second))
	}
}

// ParseScale parses the value of BUSBAR_TIME_SCALE.
func ParseScale(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || !(scale >= 0.1 && scale <= 100) {
		return 0, exit.Usagef("BUSBAR_TIME_SCALE=%s: must be a number from 0.1 to 100", text)
	}
	return scale, nil
}

// PassOn is the time for a launcher to forward output: MPICH's drops unread output when a rank aborts.
const PassOn = 200 * time.Millisecond
