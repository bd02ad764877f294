package nccl

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mostText is more than the texts of any libnccl; its device code, which is most of the file, lies elsewhere.
const mostText = 64 << 20

// builtFor is the CUDA version for which a library was built, from its own version line ("NCCL
// version 2.27.7+cuda12.9"); "" without that line.
func builtFor(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	s := f.Section(".rodata")
	if s == nil || s.Size > mostText {
		return ""
	}
	texts, err := io.ReadAll(s.Open())
	if err != nil {
		return ""
	}
	_, line, found := bytes.Cut(texts, []byte("NCCL version "))
	for ; found; _, line, found = bytes.Cut(line, []byte("NCCL version ")) {
		text, _, _ := bytes.Cut(line, []byte{0})
		if _, cuda, ok := strings.Cut(string(text), "+cuda"); ok {
			return strings.TrimRight(cuda, "\n")
		}
	}
	return ""
}

// Serves reports whether the library has code for GPUs of a compute capability, as far as is known. CUDA 13 dropped
// support for GPUs before 7.5.
func (i Info) Serves(major, minor int) bool {
	built, _, _ := strings.Cut(i.CUDA, ".")
	version, err := strconv.Atoi(built)
	return err != nil || version < 13 || 10*major+minor >= 75
}

// Unserved returns why the library has no code for GPUs of a compute capability, and what to do; "" if it has.
func (i Info) Unserved(major, minor int) string {
	if i.Serves(major, minor) {
		return ""
	}
	return fmt.Sprintf("%s %s (%s) is built for CUDA %s, which does not support compute capability %d.%d; "+
		"V100 and older GPUs need a build for CUDA 12 (pip install nvidia-nccl-cu12, or set --nccl PATH)",
		i.Name, i.Version, i.Path, i.CUDA, major, minor)
}
