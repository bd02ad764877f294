package main

import (
	"strconv"
	"time"

	"busbar/rank/exit"
)

// How long rank waits for other ranks, for the launcher and for filesystems once something is wrong. All of them are
// multiplied by BUSBAR_TIME_SCALE (0.1 to 100): above 1 for slow networks and filesystems, below 1 for tests.
var (
	// askTime is how long a rank may take to answer on the side channel, or between two heartbeats in the memory of its
	// host, before it counts as silent.
	askTime time.Duration
	// fileTime is what another host may need in addition until its file says so.
	fileTime time.Duration
	// filesTime is how long ending the files may take where a filesystem does not answer.
	filesTime time.Duration
	// abortGrace is how long MPI_Abort may take to end the job before this process ends itself.
	abortGrace time.Duration
	// rasTime is how long NCCL's RAS service may take to answer.
	rasTime time.Duration
	// fileBeat is how often a host's file is written; fileSlack after a beat nobody writes it any more.
	fileBeat, fileSlack time.Duration
	// dropTime is how long the host's file may take to be removed after a run that ends in good order.
	dropTime time.Duration
)

func init() { scaleTimes(1) }

func scaleTimes(scale float64) {
	for at, seconds := range map[*time.Duration]float64{&askTime: 2, &fileTime: 1, &filesTime: 3, &abortGrace: 5, &rasTime: 3,
		&fileBeat: 10, &fileSlack: 5, &dropTime: 5} {
		*at = time.Duration(scale * seconds * float64(time.Second))
	}
}

// timeScale reads the value of BUSBAR_TIME_SCALE.
func timeScale(text string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil || !(scale >= 0.1 && scale <= 100) {
		return 0, exit.Usagef("BUSBAR_TIME_SCALE=%s: must be a number from 0.1 to 100", text)
	}
	return scale, nil
}
