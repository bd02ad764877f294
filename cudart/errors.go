package cudart

import (
	"fmt"
	"os"

	"busbar/internal/dl"
)

// The codes of CUDA's CUresult that have a meaning here.
const (
	codeOutOfMemory = 2
	codeNoDevice    = 100
	codeNotReady    = 600
)

// Error is an error code that the driver returned.
type Error struct {
	Op   string // driver function
	Code int    // CUresult
	Name string // "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // the driver's own
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%d): %s", e.Op, e.Name, e.Code, e.Text) }

// IsOutOfMemory says that memory could not be had and nothing else is wrong: the context goes on working.
func (e *Error) IsOutOfMemory() bool { return e.Code == codeOutOfMemory }

// IsNoDevice says that no GPU is visible to this process.
func (e *Error) IsNoDevice() bool { return e.Code == codeNoDevice }

// UnsupportedError says that the driver is too old for a function.
type UnsupportedError struct {
	Symbol string
	Since  int // CUDA version in which it appeared: 11040 for 11.4
	Driver Info
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is missing: it comes with %s, and %s serves %s", e.Symbol, versionText(e.Since),
		e.Driver.Path, e.Driver)
}

// LoadError says why there is no CUDA driver, and what to do about it. Behind a driver that does not start there is an
// *Error.
type LoadError struct {
	Path   string       // of the library that was opened; "" if none was
	Tried  []dl.Attempt // if none was
	Kernel string       // version line of NVIDIA's kernel module; "" if it is not there
	Reason string       // what is wrong with the library that was opened
	Advice string       // what to do then
	Err    error
}

func (e *LoadError) Unwrap() error { return e.Err }

func (e *LoadError) Error() string { return dl.Explained(e.Explain()) }

// Explain returns what failed, the places that were tried, and what to do.
func (e *LoadError) Explain() (problem string, tried []string, remedy string) {
	if e.Path != "" {
		return fmt.Sprintf("the CUDA driver %s cannot be used: %s", e.Path, e.Reason), nil, e.Advice
	}
	remedy = install
	if e.Kernel != "" {
		remedy = "NVIDIA's kernel module is there (" + e.Kernel +
			"): in a container, start it so that it gets the GPUs " +
			"and the driver's\nlibraries: docker run --gpus all, podman run --device nvidia.com/gpu=all, apptainer " +
			"exec --nv\n" +
			install
	}
	return "the CUDA driver cannot be loaded: " + library + " was not found", dl.Lines(e.Tried), remedy
}

const install = library + ` comes with NVIDIA's driver, not with the CUDA toolkit. Install the driver, or give its path with --cuda PATH:
  Debian:      apt-get install nvidia-driver          (only the library: libcuda1)
  Ubuntu:      ubuntu-drivers install --gpgpu         (only the library: libnvidia-compute-…)
  RHEL, Rocky: dnf module install nvidia-driver:latest-dkms
  container:   docker run --gpus all (with the NVIDIA container toolkit), podman run --device nvidia.com/gpu=all, apptainer exec --nv`

// startAdvice says what to do when cuInit gives a code, with the version of NVIDIA's kernel module, "" without one.
func startAdvice(code int, kernel string) string {
	switch code {
	case 34:
		return "This is the toolkit's stub, which is only for linking: take its folder (…/stubs) out of " +
			"LD_LIBRARY_PATH; the real one comes with NVIDIA's driver."
	case codeNoDevice:
		if kernel == "" {
			return "NVIDIA's kernel module is not loaded: there is no GPU here, or its driver does not run (modprobe " +
				"nvidia, dmesg). Without a GPU: --rehearse."
		}
		visible := "CUDA_VISIBLE_DEVICES is not set"
		if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
			visible = fmt.Sprintf("CUDA_VISIBLE_DEVICES is %q", v)
		}
		return "No GPU is visible to this process (" + visible +
			"): see what nvidia-smi -L lists; containers need --gpus all, Slurm --gpus-per-node or --gres=gpu:N."
	case 802:
		return "The NVSwitches are not set up: systemctl status nvidia-fabricmanager, whose version must be the " +
			"driver's."
	case 803:
		return "The library and NVIDIA's kernel module are of different versions: reboot after a driver update; in a " +
			"container, take out the image's own libcuda.so.1."
	case 804:
		return "The library of CUDA's forward compatibility does not serve this GPU or driver: take its folder " +
			"(/usr/local/cuda/compat) out of LD_LIBRARY_PATH."
	case 46, 101, 999:
		return "The driver or a GPU is not in order: see nvidia-smi and dmesg; nvidia-modprobe -u -c=0 makes " +
			"/dev/nvidia-uvm where it is missing."
	}
	return "See what nvidia-smi says on this host."
}
