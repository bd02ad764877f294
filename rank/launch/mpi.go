package launch

import (
	"busbar/mpi"
	"busbar/rank/exit"
)

// MPI is a launch whose ranks MPI connects.
type MPI struct{ Library *mpi.MPI }

// ConnectMPI loads MPI and initializes it. phase is called with what comes next, since each step may hang.
func ConnectMPI(options mpi.Options, phase func(string)) (*MPI, error) {
	phase("load MPI")
	library, err := mpi.Load(options)
	if err != nil {
		return nil, exit.With(exit.Environment, err)
	}
	phase("MPI_Init")
	if _, err := library.Init(); err != nil {
		return nil, exit.With(exit.Environment, err)
	}
	return &MPI{library}, nil
}

// World implements Launch.
func (m *MPI) World() Comm { return mpiComm{m.Library.World()} }

// Connected implements Launch.
func (m *MPI) Connected() bool { return m.Library.Initialized() }

// Abort implements Launch.
func (m *MPI) Abort(code int) { m.Library.Abort(code) }

// Finalize implements Launch.
func (m *MPI) Finalize() error { return m.Library.Finalize() }

// mpiComm is a communicator of MPI.
type mpiComm struct{ *mpi.Comm }

// MPIComm returns the communicator by which MPI connects a group of ranks; nil if something else connects them.
func MPIComm(c Comm) *mpi.Comm {
	if m, ok := c.(mpiComm); ok {
		return m.Comm
	}
	return nil
}

// Sum implements Comm.
func (c mpiComm) Sum(x []float64) error { return c.Allreduce(x, mpi.Sum) }

// Max implements Comm.
func (c mpiComm) Max(x []float64) error { return c.Allreduce(x, mpi.Max) }

// Split implements Comm.
func (c mpiComm) Split(color, key int) (Comm, error) {
	sub, err := c.Comm.Split(color, key)
	if sub == nil { // no Comm that holds a nil pointer
		return nil, err
	}
	return mpiComm{sub}, err
}
