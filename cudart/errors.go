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

// IsOutOfMemory reports that an allocation failed; the context still works.
func (e *Error) IsOutOfMemory() bool { return e.Code == codeOutOfMemory }

// IsNoDevice reports that no GPU is visible to this process.
func (e *Error) IsNoDevice() bool { return e.Code == codeNoDevice }

// UnsupportedError reports that the driver is too old for a function.
type UnsupportedError struct {
	Symbol string
	Since  int // CUDA version in which it appeared: 11040 for 11.4
	Driver Info
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s is missing: it requires %s, and %s supports %s", e.Symbol, versionText(e.Since),
		e.Driver.Path, e.Driver)
}

// installAdvice is what to do without a driver, with the version of NVIDIA's kernel module, "" without one.
func installAdvice(kernel string) string {
	if kernel == "" {
		return install
	}
	return "NVIDIA's kernel module is loaded (" + kernel + "): in a container, give it the GPUs " +
		"and the driver's\nlibraries: docker run --gpus all, podman run --device nvidia.com/gpu=all, " +
		"apptainer exec --nv\n" + install
}

const install = library + ` comes with NVIDIA's driver, not with the CUDA toolkit. Install the driver, or give its ` +
	`path with --cuda PATH:
  Debian:      apt-get install nvidia-driver          (only the library: libcuda1)
  Ubuntu:      ubuntu-drivers install --gpgpu         (only the library: libnvidia-compute-…)
  RHEL, Rocky: dnf module install nvidia-driver:latest-dkms
  container:   docker run --gpus all (with the NVIDIA container toolkit), podman run --device nvidia.com/gpu=all, ` +
	`apptainer exec --nv`

// startAdvice is what to do if cuInit returns a code, with the version of NVIDIA's kernel module, "" without one.
func startAdvice(code int, kernel string) string {
	switch code {
	case 34:
		return "This is the CUDA toolkit's stub, used only for linking: remove its folder (…/stubs) from " +
			"LD_LIBRARY_PATH; NVIDIA's driver has the real library."
	case codeNoDevice:
		if kernel == "" {
			return "NVIDIA's kernel module is not loaded: this host has no GPU, or its driver failed (modprobe " +
				"nvidia, dmesg). Without a GPU, set --simulate."
		}
		visible := "CUDA_VISIBLE_DEVICES is not set"
		if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
			visible = fmt.Sprintf("CUDA_VISIBLE_DEVICES is %q", v)
		}
		return "No GPU is visible to this process (" + visible +
			"): run nvidia-smi -L to list the GPUs; containers need --gpus all, Slurm --gpus-per-node or --gres=gpu:N."
	case 802:
		return "The NVSwitches are not set up: check systemctl status nvidia-fabricmanager, " +
			"whose version must be the driver's."
	case 803:
		return "The library and NVIDIA's kernel module are of different versions: reboot after a driver update; in a " +
			"container, remove the image's own libcuda.so.1."
	case 804:
		return "CUDA's forward-compatibility library does not support this GPU or driver: remove its folder " +
			"(/usr/local/cuda/compat) from LD_LIBRARY_PATH."
	case 46, 101, 999:
		return "The driver or a GPU failed: check nvidia-smi and dmesg; if /dev/nvidia-uvm is missing, run " +
			"nvidia-modprobe -u -c=0."
	}
	return "Run nvidia-smi on this host."
}
