package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// mpirun runs ranks of this program to their end, and returns what rank 0 prints; the error has what it reports.
func (c config) mpirun(ranks int, args ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(c.top, "scripts", "mpirun.sh"),
		append([]string{"-np", strconv.Itoa(ranks), self}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s%s", cmd, err, out, stderr.Bytes())
	}
	return string(out), err
}

// machine describes where the values were taken.
func machine() string {
	after := func(file, key string) string {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), key)
		line, _, _ := strings.Cut(rest, "\n")
		return strings.Trim(line, " \t:=\"")
	}
	return fmt.Sprintf("%s, %d CPUs, %s; %s, Linux %s; %s; %s.", after("/proc/cpuinfo", "model name"), runtime.NumCPU(),
		after("/proc/meminfo", "MemTotal:"), after("/etc/os-release", "PRETTY_NAME"),
		after("/proc/sys/kernel/osrelease", ""), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
}
