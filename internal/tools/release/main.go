// Command release writes the files of a release that need a format of their own: Python wheels and the SBOM. The same
// arguments, files and SOURCE_DATE_EPOCH give the same bytes.
//
//	release wheel VERSION TAGS POST LICENSES OUT   a wheel that installs the program POST as busbar
//	release sbom VERSION OUT FILE...               the modules of Go programs, Debian's packages in VERSIONS files
//
// TAGS are a wheel's platforms, joined by dots. LICENSES is a folder. A FILE is NAME=PATH; the path of a list of Debian
// packages ends in VERSIONS, and its NAME ends in Debian's architecture after a colon.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	date := time.Unix(seconds, 0).UTC()
	switch {
	case len(args) == 6 && args[0] == "wheel":
		return wheel{version: args[1], tags: args[2], program: args[3], licenses: args[4], date: date}.write(args[5])
	case len(args) > 3 && args[0] == "sbom":
		return writeSBOM(args[2], args[1], date, args[3:])
	}
	return errors.New("usage: release wheel VERSION TAGS POST LICENSES OUT, or release sbom VERSION OUT FILE")
}
