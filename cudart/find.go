package cudart

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// library is the name under which every NVIDIA driver installs its CUDA interface.
const library = "libcuda.so.1"

// candidates lists the files to try, in order.
func (o Options) candidates() []string {
	if o.Path != "" {
		return []string{within(o.Path, library)}
	}
	return places(library, o.Dirs)
}

// within is the file of that name when path is a folder, else path itself.
func within(path, name string) string {
	if s, err := os.Stat(path); err == nil {
		if s.IsDir() {
			path = filepath.Join(path, name)
		}
		if absolute, err := filepath.Abs(path); err == nil {
			return absolute
		}
	}
	return path
}

// places lists where a library of the driver may lie: in dirs, or by default where the loader looks and in the usual
// folders of distributions, containers and WSL.
func places(name string, dirs []string) []string {
	var paths []string
	if dirs == nil {
		machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
		dirs = []string{"/usr/lib/" + machine + "-linux-gnu", "/usr/lib64", "/usr/lib64/nvidia", "/usr/lib",
			"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib"}
		paths = append(paths, name)
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// kernelModule is the version line of NVIDIA's kernel module; "" if it is not loaded. Containers see the host's.
func kernelModule(proc string) string {
	text, err := os.ReadFile(filepath.Join(proc, "driver/nvidia/version"))
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.Join(strings.Fields(strings.TrimPrefix(first, "NVRM version:")), " ")
}
