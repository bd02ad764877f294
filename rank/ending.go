package main

import (
	"os"
	"time"

	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// die ends the whole job: MPI_Abort takes the other ranks along, and rank 0's word does where MPI's does not arrive. It
// does not return.
func (j *job) die(code int) {
	if j.hub != nil {
		go j.hub.Broadcast(launch.Event{Kind: eventAbort})
	}
	j.nameless()
	time.Sleep(timeout.PassOn)
	if l := j.abortable.Load(); l != nil {
		go func() {
			if (*l).Connected() {
				(*l).Abort(code)
			}
		}()
		if (*l).Connected() {
			time.Sleep(timeout.Abort)
		}
	}
	os.Exit(code)
}

// yield lets whoever ends the run do so, and ends this process where that comes to nothing. It does not return.
func (j *job) yield(code int) {
	time.Sleep(timeout.CloseFiles + timeout.Abort)
	j.die(code)
}
