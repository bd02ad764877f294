package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

func (c config) bareProgram() string { return filepath.Join(c.top, "lib", "busbar-bare") }

// mpirun starts n ranks of a program by scripts/mpirun.sh.
func (c config) mpirun(n int, program string, args ...string) (launched, error) {
	return start(filepath.Join(c.top, "scripts", "mpirun.sh"), c.ranksOf(n, program, args)...)
}

func (c config) ranksOf(n int, program string, args []string) []string {
	return append([]string{"-np", strconv.Itoa(n), program}, args...)
}

// start runs a program to its end; the error has what it said.
func start(program string, args ...string) (launched, error) {
	var out, said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &out, &said
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return launched{}, fmt.Errorf("%s: %w", program, err)
	}
	// Watched in /proc: what wait reports begins with the size of the process that forked.
	ended, peak := make(chan struct{}), make(chan int64)
	go func() {
		most, pid := int64(0), strconv.Itoa(cmd.Process.Pid)
		for {
			select {
			case <-ended:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, highWater(pid))
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	l := launched{stdout: out.Bytes(), wall: time.Since(begin), cpu: cmd.ProcessState.UserTime() +
		cmd.ProcessState.SystemTime(), peak: <-peak}
	if err != nil {
		return l, fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, tail(out.Bytes()), tail(said.Bytes()))
	}
	return l, nil
}

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// peakOf runs ranks and returns the largest resident size that any of them reached, in bytes, by watching /proc.
func (c config) peakOf(n int, program string, args ...string) (int64, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return 0, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return 0, err
	}
	before := processes(real)
	done := make(chan error, 1)
	go func() {
		_, err := c.mpirun(n, program, args...)
		done <- err
	}()
	peak := int64(0)
	for {
		select {
		case err := <-done:
			return peak, err
		case <-time.After(20 * time.Millisecond):
			for pid := range processes(real) {
				if !before[pid] {
					peak = max(peak, highWater(pid))
				}
			}
		}
	}
}

// processes are the numbers of those that run an executable.
func processes(executable string) map[string]bool {
	found := map[string]bool{}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == executable {
			found[strings.Split(link, "/")[2]] = true
		}
	}
	return found
}

// highWater is VmHWM of a process in bytes; 0 when it is gone.
func highWater(pid string) int64 {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kib << 10
}
