// Package timeout has how long rank waits for other ranks, launchers and filesystems once something is wrong.
package timeout

import (
	"strconv"
	"time"

	"busbar/rank/exit"
)

// How long rank waits for other ranks, for the launcher and for filesystems once something is wrong. All of them are
// multiplied by BUSBAR_TIME_SCALE (0.1 to 100): above 1 for slow networks and filesystems, below 1 for tests.
var (
	// Ask is how long a rank may take to answer on the side channel, or between two heartbeats in the memory of its
	// host, before it counts as silent.
	Ask time.Duration
	// OtherHosts is how long the run lasts after its end is decided where a host can only report its ranks on stderr.
	OtherHosts time.Duration
	// CloseFiles is how long ending the files may take where a filesystem does not answer.
	CloseFiles time.Duration
	// Abort is how long MPI_Abort may take to end the job before this process ends itself.
	Abort time.Duration
	// RAS is how long NCCL's RAS service may take to answer.
	RAS time.Duration
)

func init() { Scale(1) }

// Scale multiplies all waits but PassOn by a factor. It is called before anything waits.
func Scale(scale float64) {
	for at, seconds := range map[*time.Duration]float64{&Ask: 2, &OtherHosts: 6, &CloseFiles: 3, &Abort: 5, &RAS: 3} {
		*at = time.Duration(scale * seconds * float64(time.Second))
	}
}

// ParseScale reads the value of BUSBAR_TIME_SCALE.
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

// PassOn is how long a launcher has to pass on what was said: MPICH's drops what it has not read when a rank aborts.
const PassOn = 200 * time.Millisecond
