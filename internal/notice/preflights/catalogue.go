// Package preflights has the notices of rank --preflight: what is ready for a run, and what is not.
package preflights

import "busbar/internal/notice"

func init() {
	notice.Register(preflightAdapters, preflightGPUs, preflightHosts, preflights)
}

// Code identifies a notice.
type Code = notice.Code
