package main

import (
	"cmp"
	"debug/buildinfo"
	"runtime/debug"
)

// version is set by the linker (-X main.version=…) in released builds.
var version string

// toolVersion is the version of this program: the release's, or what the Go tool stamped into it.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "unknown")
	}
	return cmp.Or(version, stampedVersion(info))
}

// stampedVersion is the module's version, or the commit the program was built from.
func stampedVersion(info *buildinfo.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	if commit == "" {
		return "development"
	}
	return "development-" + commit[:min(12, len(commit))] + modified
}
