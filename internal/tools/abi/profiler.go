package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// profilerSince is the first version of NCCL with a profiler interface.
const profilerSince = 22300

var profilerName = regexp.MustCompile(`ncclProfiler_v([0-9]+)\b`)

// asked are the versions of the profiler interface that a library looks for in a plugin, by the names among its texts.
func asked(library string) ([]int, error) {
	f, err := elf.Open(library)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	s := f.Section(".rodata")
	if s == nil {
		return nil, fmt.Errorf("%s has no texts", library)
	}
	texts, err := io.ReadAll(s.Open())
	if err != nil {
		return nil, err
	}
	return interfaces(string(texts)), nil
}

// served are the versions that the plugin exports.
func served(plugin string) ([]int, error) {
	f, err := elf.Open(plugin)
	if err != nil {
		return nil, fmt.Errorf("the plugin for NCCL's profiler interface: %w (make nccl-profiler)", err)
	}
	defer func() { _ = f.Close() }()
	symbols, err := f.DynamicSymbols()
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	return interfaces(strings.Join(names, "\n")), err
}

// interfaces are the versions that a text names, in order.
func interfaces(text string) []int {
	var all []int
	for _, m := range profilerName.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// profiler compares the two: a library with the interface finds a version in the plugin, the newest that both know.
// What comes back first is for the table.
func profiler(library, plugin string, code int) (string, error) {
	names, err := asked(library)
	if err != nil {
		return "not read", err
	}
	ours, err := served(plugin)
	if err != nil {
		return "not read", err
	}
	if len(names) == 0 {
		if code >= profilerSince {
			err = errors.New("the library names no version of the profiler interface, which NCCL has had since 2.23")
		}
		return "none", err
	}
	newest := names[len(names)-1]
	for _, n := range slices.Backward(names) {
		switch {
		case !slices.Contains(ours, n):
		case n == newest:
			return fmt.Sprintf("v%d", n), nil
		default:
			return fmt.Sprintf("v%d of v%d", n, newest), nil
		}
	}
	return "none", fmt.Errorf("the library asks for versions %v of the profiler interface, and the plugin serves %v",
		names, ours)
}
