package backend

import (
	"errors"
	"fmt"

	"busbar/cudart"
	"busbar/cudart/cublas"
	"busbar/rank/exit"
)

// gpuComputing is a stream of this rank's GPU that computes.
type gpuComputing struct {
	b      *ncclBackend
	stream *cudart.Stream
	gemm   *cublas.GEMM // nil where busbar's own kernel computes
	fma    *cudart.FMA  // nil where cuBLAS computes
	what   string
	rate   cudart.Rate
	notes  []string
}

// FMABesideWindows is why busbar's own kernel does not compute beside registered windows. NCCL's symmetric kernels take
// all registers of a multiprocessor (512 threads of 128), so that none of them starts as long as a block of ours is on
// each.
const FMABesideWindows = "NCCL's kernels for --register window need whole multiprocessors and cannot run " +
	"beside FMA kernels, so no overlap could be measured"

// Computing implements Trainer.
func (b *ncclBackend) Computing() (Computing, error) {
	c := &gpuComputing{b: b}
	var err error
	if c.stream, err = b.l.gpu.NewStream(); err != nil {
		return nil, err
	}
	b.computes = c
	if err = c.choose(b.l.h.Options.Compute.Kernel); err == nil {
		err = c.calibrate()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// choose makes what computes ready, the same on all ranks. Collective.
func (c *gpuComputing) choose(kernel string) error {
	if kernel != "fma" {
		err := c.openGEMM()
		lacking := []float64{float64(b2i(err != nil))}
		if err := c.b.w.Max(lacking); err != nil {
			return err
		}
		if lacking[0] == 0 {
			return c.sizeGEMM()
		}
		if err == nil {
			err = errors.New("it is not available on another rank")
		}
		switch {
		case kernel == "gemm":
			return exit.Environmentf("--compute-kernel gemm: %w", err)
		case c.b.l.h.Options.GPU.Register == "window":
			return exit.Environmentf("%s: install cuBLAS, or leave out --register window: %w", FMABesideWindows, err)
		}
		c.notes = append(c.notes, "computing by busbar's own kernel, which leaves the GPU's memory idle: "+
			exit.ProblemOf(err))
		if err := c.gemm.Close(); err != nil {
			return err
		}
		c.gemm = nil
	}
	c.what = "FMA kernels"
	var err error
	c.fma, err = c.stream.NewFMA()
	return err
}

func (c *gpuComputing) openGEMM() error {
	l := c.b.l
	o := cublas.Options{Cuda: l.driver.Info().Version}
	if l.Simulated() {
		dir, err := rehearsalFolder()
		if err != nil {
			return err
		}
		o.Dirs = []string{dir}
	}
	lib, err := cublas.Load(o)
	if err != nil {
		return err
	}
	if lib.Info().Rehearsed && !l.Simulated() {
		return fmt.Errorf("%s is the simulation, not cuBLAS: remove its folder from LD_LIBRARY_PATH", lib.Info().Path)
	}
	c.what = "cuBLAS " + lib.Info().Version
	c.gemm, err = lib.NewGEMM(l.gpu, c.stream)
	return err
}

// A matrix product must take long enough for the host to issue many during one, and must be short beside a layer's
// computing.
const minGEMM = 20e-6 // s

// gemmSizes are the rows and columns of matrices that are tried, in order.
var gemmSizes = []int{1024, 2048, 4096, 8192}

// sizeGEMM takes the smallest matrices of which a product takes long enough on every rank. Collective.
func (c *gpuComputing) sizeGEMM() error {
	fill := func(p cudart.Pointer, bytes int64, table []byte) error { return c.b.mover.Fill(p, bytes, table, 0) }
	for i, n := range gemmSizes {
		if err := c.gemm.Resize(n, fill); err != nil {
			return err
		}
		r, err := c.stream.Calibrate(c.gemm.Work())
		if err != nil {
			return err
		}
		least := []float64{-r.Each}
		if err := c.b.w.Max(least); err != nil {
			return err
		}
		if -least[0] >= minGEMM || i == len(gemmSizes)-1 {
			c.what += fmt.Sprintf(" half-precision GEMMs of %dx%dx%d", n, n, n)
			return nil
		}
	}
	return nil
}

// calibrate measures while all ranks do. The slowest rank's rate holds for all: as in a training each gets the
// same work, also a rank with a slower GPU. Collective.
func (c *gpuComputing) calibrate() (err error) {
	if err := c.b.w.Max([]float64{0}); err != nil { // no rank begins before all are ready
		return err
	}
	if c.rate, err = c.stream.Calibrate(c.work()); err != nil {
		return err
	}
	slowest := []float64{c.rate.Each, c.rate.Fixed}
	if err := c.b.w.Max(slowest); err != nil {
		return err
	}
	c.rate = cudart.Rate{Each: slowest[0], Fixed: slowest[1]}
	return nil
}

func (c *gpuComputing) work() cudart.Work {
	if c.gemm != nil {
		return c.gemm.Work()
	}
	return c.fma.Work()
}

// String implements Computing.
func (c *gpuComputing) String() string { return c.what }

// Calibration implements Calibrated.
func (c *gpuComputing) Calibration() (unit, start float64) { return c.rate.Each, c.rate.Fixed }

// end returns when all that was to be computed is; at once where nothing computes.
func (c *gpuComputing) end() error {
	if c == nil {
		return nil
	}
	return c.stream.Synchronize()
}

// Close implements Computing.
func (c *gpuComputing) Close() error {
	c.b.computes = nil
	return errors.Join(c.end(), c.gemm.Close(), c.fma.Close(), c.stream.Close())
}
