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

// wrote reports a file that was written beside the results.
func (s streams) wrote(path string) { fmt.Fprintln(s.stderr, "post: wrote", path) }

// run is the whole program: results go to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRoot(streams{stdout, stderr})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if wrong, is := errors.AsType[*usage.Error](err); is {
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
	if stopped, is := errors.AsType[*signalError](err); is {
		return codeSignal + int(stopped.signal)
	}
	switch {
	case has[*compare.ExceededError](err), has[*notices.FailOnError](err), has[*expectdoc.BelowError](err):
		return codeExceeded
	case has[*usage.Error](err), has[*result.RehearsedError](err), errors.Is(err, errSaid):
		return codeUsage
	}
	return codeNothing
}

// has reports whether an error has one of a type in it.
func has[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// errSaid is a wrong call after its message, the help, was printed on stderr.
var errSaid = errors.New("help was shown")
