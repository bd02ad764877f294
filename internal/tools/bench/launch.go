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

// launched is what came of a program.
type launched struct {
	stdout []byte
	wall   time.Duration
	cpu    time.Duration // of the process started, in user and system mode
	peak   int64         // largest resident size of the process started, in bytes
}

func (c config) program(name string) string { return filepath.Join(c.top, "bin", name) }

// mpirun starts n ranks of a program by scripts/mpirun.sh.
func (c config) mpirun(n int, program string, args ...string) (launched, error) {
	return start(filepath.Join(c.top, "scripts", "mpirun.sh"),
		append([]string{"-np", strconv.Itoa(n), program}, args...)...)
}

// start runs a program to its end; the error has its output.
func start(program string, args ...string) (launched, error) {
	var out, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return launched{}, fmt.Errorf("%s: %w", program, err)
	}
	// Watched in /proc: what wait reports begins with the size of the process that forked.
	ended, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			select {
			case <-ended:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, kibOf(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), "VmHWM:"))
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	l := launched{stdout: out.Bytes(), wall: time.Since(begin),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: <-peak}
	if err != nil {
		return l, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, tail(out.Bytes()),
			tail(stderr.Bytes()))
	}
	return l, nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// kibOf is the number of KiB behind a key of a file in /proc, in bytes; 0 if there is none.
func kibOf(file, key string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), key)
	kib, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kib << 10
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
		megabytes(kibOf("/proc/meminfo", "MemTotal:")), after("/etc/os-release", "PRETTY_NAME"),
		after("/proc/sys/kernel/osrelease", ""), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
}

func seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
