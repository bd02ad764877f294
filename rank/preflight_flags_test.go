package main

import (
	"strings"
	"testing"

	"busbar/rank/exit"
)

func TestPreflightFlags(t *testing.T) {
	for line, wrong := range map[string]string{"--preflight": "", "--preflight --json": "",
		"--preflight --format md": "",
		"--json":                  "--preflight", "--format text": "--preflight", "--preflight --format xml": "xml",
		"--preflight --list": "--list"} {
		_, err := parseFlags(strings.Fields(line), noEnv)
		if (err == nil) != (wrong == "") ||
			err != nil && (exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
