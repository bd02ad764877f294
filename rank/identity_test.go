package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"
)

func TestBuildIdentity(t *testing.T) {
	own := buildIdentity()
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(own) || own != buildIdentity() {
		t.Errorf("identity %q, then %q", own, buildIdentity())
	}
	// A copy is the same build wherever it lies.
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"copy": exe, "longer": append(slices.Clone(exe), "x"...), "a": []byte("a"), "b": []byte("b"), "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{own: "this program"}
	for _, name := range []string{"copy", "longer"} { // the linker's note counts, the file is not read to its end
		if got := identityOf(filepath.Join(dir, name)); got != own {
			t.Errorf("%s is %s, the original %s", name, got, own)
		}
	}
	for _, name := range []string{"a", "b", "empty"} {
		got := identityOf(filepath.Join(dir, name))
		if seen[got] != "" {
			t.Errorf("%s has the identity of %s", name, seen[got])
		}
		seen[got] = name
	}
	if got := identityOf(filepath.Join(dir, "none")); got != "unknown" {
		t.Errorf("a missing file is %q", got)
	}
}

func TestStampedVersion(t *testing.T) {
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{info("v1.2.3"), "v1.2.3"},
		{info("(devel)"), "development"},
		{info("(devel)", commit), "development-0123456789ab"},
		{info("", commit, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "development-0123456789ab+modified"},
	} {
		if got := stampedVersion(c.info); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if toolVersion() == "" {
		t.Error("no version")
	}
}
