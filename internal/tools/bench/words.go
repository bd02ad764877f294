package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// machine describes where the figures were taken.
func machine() string {
	field := func(file, key string) string {
		f, err := os.Open(file)
		if err != nil {
			return "unknown"
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if name, value, ok := strings.Cut(lines.Text(), key); ok && strings.TrimSpace(name) == "" {
				return strings.Trim(value, " \t:=\"")
			}
		}
		return "unknown"
	}
	word := func(file string) string {
		b, _ := os.ReadFile(file)
		return strings.TrimSpace(string(b))
	}
	governor := word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if governor == "" {
		governor = "not shown (a virtual machine, mostly)"
	}
	return fmt.Sprintf("%s, %d CPUs, %s free of %s; %s, Linux %s; governor %s; load %s; %s; %s.",
		field("/proc/cpuinfo", "model name"), runtime.NumCPU(), megabytes(available()), field("/proc/meminfo", "MemTotal"),
		field("/etc/os-release", "PRETTY_NAME"), word("/proc/sys/kernel/osrelease"), governor,
		strings.Join(strings.Fields(word("/proc/loadavg") + " ? ?")[:2], " "), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly))
}

// available is the memory that can be had without swapping, in bytes; 0 if unknown.
func available() int64 {
	b, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := strings.Cut(string(b), "MemAvailable:")
	kib, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return kib << 10
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

func span(x []float64) string { return seconds(slices.Min(x)) + " – " + seconds(slices.Max(x)) }
