// Command rank measures collective communication. mpirun or srun starts it once per GPU or CPU slot. Its ranks run a
// sweep of collectives with a backend; rank 0 writes every result at once.
//
// rank reads only the results that --resume continues; post plots and compares them.
package main

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"runtime/debug"
)

// The thread that initialises MPI calls it.
func init() { runtime.LockOSThread() }

func main() {
	raiseGOMAXPROCS()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// raiseGOMAXPROCS raises GOMAXPROCS from 1 to 2. A rank that is bound to one core has 1. Go then hands its only P over
// 20 microseconds after a call of C begins, and the thread that takes it disturbs the timed loop on that core.
func raiseGOMAXPROCS() {
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
}

// version is set by the linker (-X main.version=…) in releases.
var version string

// toolVersion returns the version of the release, or the one that Go derives from the commit.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	return cmp.Or(version, info.Main.Version)
}
