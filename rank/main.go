// Command rank measures collective communication. It is started once per GPU or CPU slot by mpirun or srun; its ranks
// run a sweep of collectives over a backend, and rank 0 keeps every result the moment it exists.
//
// It reads no results but those that --resume continues; drawing and comparing is the work of post.
package main

import (
	"context"
	"os"
	"runtime"
)

// MPI is called from the thread that initialised it.
func init() { runtime.LockOSThread() }

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
