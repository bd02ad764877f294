package launch

import (
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
	"busbar/internal/result"
	"busbar/mpi"
	"busbar/rank/exit"
	"errors"
	"os"
)

// MPI is a launch whose ranks MPI connects.
type MPI struct{ mpi *mpi.MPI }

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
func (m *MPI) World() Comm { return mpiComm{m.mpi.World()} }

// Connected implements Launch.
func (m *MPI) Connected() bool { return m.mpi.Initialized() }

// Abort implements Launch.
func (m *MPI) Abort(code int) { m.mpi.Abort(code) }

// Finalize implements Launch.
func (m *MPI) Finalize() error { return m.mpi.Finalize() }

// mpiComm is a communicator of MPI.
type mpiComm struct{ *mpi.Comm }

// Library implements Launch.
func (m *MPI) Library() Library {
	i := m.mpi.Info()
	return Library{Name: i.Name, Version: i.LibraryFull, Facts: result.MPI{Family: i.Family, Library: i.Library,
		Standard: i.Standard, Path: i.LibMPIPath, Shim: i.ShimPath, ThreadLevel: i.ThreadLevel.String(),
		LargeCounts: i.LargeCounts}}
}

// MPIOf returns the library that connects a launch; nil if that is not MPI.
func MPIOf(l Launch) *mpi.MPI {
	if m, ok := l.(*MPI); ok {
		return m.mpi
	}
	return nil
}

// MPIComm returns the communicator by which MPI connects a group of ranks; nil if something else connects them.
func MPIComm(c Comm) *mpi.Comm {
	if m, ok := c.(mpiComm); ok {
		return m.Comm
	}
	return nil
}

// Split implements Comm.
func (c mpiComm) Split(color, key int) (Comm, error) {
	sub, err := c.Comm.Split(color, key)
	if sub == nil { // no Comm that holds a nil pointer
		return nil, err
	}
	return mpiComm{sub}, err
}

// NewBarrier implements LoopBarrier by an all_reduce of one number.
func (c mpiComm) NewBarrier() (*Barrier, error) {
	one, err := loop.AllocBuffer(int64(os.Getpagesize()))
	if err != nil {
		return nil, err
	}
	op, err := c.Prepare(operation.Host{Recv: one.Pointer(), Spec: operation.Spec{Case: coll.Case{
		Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Placement: coll.InPlace, Count: 1}}})
	if err != nil {
		return nil, errors.Join(err, one.Free())
	}
	steps := op.Steps()
	return &Barrier{Step: steps.Sync, Context: steps.Context, Failed: op.Error,
		close: func() error { return errors.Join(op.Close(), one.Free()) }}, nil
}
