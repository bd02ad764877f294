package cudart

import (
	"fmt"
	"os"
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

// installAdvice is what to do where there is no driver, with the version of NVIDIA's kernel module, "" without one.
func installAdvice(kernel string) string {
	if kernel == "" {
		return install
	}
	return "NVIDIA's kernel module is there (" + kernel + "): in a container, start it so that it gets the GPUs " +
		"and the driver's\nlibraries: docker run --gpus all, podman run --device nvidia.com/gpu=all, " +
		"apptainer exec --nv\n" + install
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
