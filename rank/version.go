package main

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker (-X main.version=…) in releases.
var version string

// toolVersion returns the version of the release, or the one that Go derives from the commit.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	return cmp.Or(version, info.Main.Version)
}
