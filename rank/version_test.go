package main

import (
	"runtime/debug"
	"testing"
)

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
