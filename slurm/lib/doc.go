// Package lib holds shell functions shared by the scripts of slurm/. Its tests run the scripts that do not require
// Slurm, with simulated GPUs.
package lib
