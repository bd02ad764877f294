package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"io"
	"os"
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

// buildIdentity is a short word that is equal for two ranks if and only if they run the same build; "unknown" if the
// program cannot read itself.
func buildIdentity() string { return identityOf("/proc/self/exe") }

// identityOf prefers the linker's note to the whole file: ten thousand ranks that read 20 MB each are a load on a file server.
func identityOf(path string) string {
	if note := buildNote(path); len(note) > 0 {
		sum := sha256.Sum256(note)
		return hex.EncodeToString(sum[:8])
	}
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// buildNote is the content of the Go tool's build ID, which hashes what went in and what came out.
func buildNote(path string) []byte {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	section := f.Section(".note.go.buildid")
	if section == nil {
		return nil
	}
	note, err := section.Data()
	const header = 16 // name size, content size, type, "Go\0\0"
	if err != nil || len(note) <= header {
		return nil
	}
	return note[header:]
}
