// Command testrun runs `go test` and shows what it is doing: which tests are running, which failed, where the log of a
// failed test is and which command runs it alone. A test that runs longer than the limit stops everything, with the
// goroutines printed.
//
//	testrun [-limit 5m] [-again COMMAND] [-rest FILE] EVENTS.json ARGUMENTS OF go test…
//	testrun -slowest 10 EVENTS.json…
//
// EVENTS.json receives the events of `go test -json`; the logs of failed tests are written beside it. With -rest only
// those tests run that skipped themselves in the run of FILE because they are left to `make test-all` (needs.TestAll).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("testrun", flag.ContinueOnError)
	limit := flags.Duration("limit", 5*time.Minute, "stop everything when a test runs longer")
	again := flags.String("again", "go test", "the beginning of the command that runs a failed test again")
	rest := flags.String("rest", "", "run only what the run of these events left to make test-all")
	slowest := flags.Int("slowest", 0, "print that many of the slowest tests in the event files, and run nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("the file for the events is missing")
	}
	if *slowest > 0 {
		return printSlowest(out, *slowest, flags.Args())
	}
	words := append([]string{"test", "-json"}, flags.Args()[1:]...)
	if *rest != "" {
		left, err := leftOut(*rest)
		if err != nil {
			return err
		}
		if len(left.packages) == 0 {
			fmt.Fprintln(out, "no test was left to make test-all")
			return nil
		}
		words = append(append(words, "-run", left.pattern), left.packages...)
	}
	r := newRunner(out, flags.Arg(0))
	r.limit, r.again, r.some = *limit, *again, *rest != ""
	return r.run(ctx, words)
}
