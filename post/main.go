// Command post reads what rank measured: it merges runs into one table, shows them in the
// terminal, draws them and compares them.
//
// It is pure Go, measures nothing and needs no library of the machine; results come through internal/result only.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/post/compare"
	"busbar/post/expectdoc"
	"busbar/post/notices"
	"busbar/post/usage"
)

func main() {
	os.Exit(exitCode(run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr), os.Stderr))
}

// streams are where a command writes: results and everything else.
type streams struct{ stdout, stderr io.Writer }

// run is the whole program: results go to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRoot(streams{stdout, stderr})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if wrong := (*usage.Error)(nil); errors.As(err, &wrong) {
		wrong.Command = cmd.CommandPath()
	}
	return err
}

// The exit codes; the help lists them.
const (
	codeDone     = 0
	codeUsage    = 1
	codeNothing  = 2   // nothing usable to read, or unwritable output
	codeExceeded = 7   // --fail-above, --fail-below or --fail-on
	codeSignal   = 128 // and the signal's number
)

// exitCode prints an error on stderr and returns the exit code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return codeDone
	}
	if !errors.Is(err, errSaid) {
		fmt.Fprintln(stderr, "post:", document.Printable(err.Error()))
	}
	var wrong *usage.Error
	var mixed *result.RehearsedError
	var stopped *signalError
	var exceeded *compare.ExceededError
	var noticed *notices.FailOnError
	var below *expectdoc.BelowError
	switch {
	case errors.As(err, &stopped):
		return codeSignal + int(stopped.signal)
	case errors.As(err, &exceeded), errors.As(err, &noticed), errors.As(err, &below):
		return codeExceeded
	case errors.As(err, &wrong), errors.As(err, &mixed), errors.Is(err, errSaid):
		return codeUsage
	}
	return codeNothing
}

// errSaid is a wrong call after its message, the help, was printed on stderr.
var errSaid = errors.New("help was shown")
