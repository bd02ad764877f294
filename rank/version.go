package main

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker (-X main.version=…) in released builds.
var version string

// toolVersion is the version of this program: the release's, or what the Go tool derived from the commit.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	return cmp.Or(version, info.Main.Version)
}
