// Package nccllogs has the notices on logs of NCCL: what went wrong in a job, how NCCL was configured, and how two
// logs differ.
package nccllogs

import "busbar/internal/notice"

func init() {
	notice.Register(ncclDefects, ncclDiffer, ncclGPUs, ncclMessages, ncclNetwork, ncclRanks, ncclSettings)
}

// Code identifies a notice.
type Code = notice.Code
