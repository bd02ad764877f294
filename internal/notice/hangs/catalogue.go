// Package hangs has the notices on hung and dead jobs: verdicts, their evidence, and what contradicts it.
package hangs

import "busbar/internal/notice"

func init() { notice.Register(verdicts, observed, doubts) }

// Code identifies a notice.
type Code = notice.Code
