// Package lib has the shell functions that the scripts of slurm/ share. Its tests run those scripts that need no Slurm,
// with simulated GPUs.
package lib
