// Command rank measures collective communication. mpirun or srun starts it once per GPU or CPU slot. Its ranks run a
// sweep of collectives with a backend; rank 0 writes every result at once.
//
// rank reads only the results that --resume continues; post plots and compares them.
package main

import (
	"context"
	"os"
	"runtime"
)

// The thread that initialises MPI calls it.
func init() { runtime.LockOSThread() }

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
