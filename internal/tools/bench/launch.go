package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// launched is what came of a program.
type launched struct {
	stdout []byte
	wall   time.Duration
	cpu    time.Duration // in user and system mode, of the process started and of those that it waited for
	// largest resident size of one of them, in bytes; at least that of this process, from which they were forked
	peak int64
}

func (c config) program(name string) string { return filepath.Join(c.top, "bin", name) }

// start runs a program to its end; the error has its output.
func start(program string, args ...string) (launched, error) {
	var out, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	begin := time.Now()
	err := cmd.Run()
	l := launched{stdout: out.Bytes(), wall: time.Since(begin)}
	if cmd.ProcessState != nil {
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		l.cpu = time.Duration(used.Utime.Nano() + used.Stime.Nano())
		l.peak = used.Maxrss << 10
	}
	if err != nil {
		return l, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, tail(out.Bytes()),
			tail(stderr.Bytes()))
	}
	return l, nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

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

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
