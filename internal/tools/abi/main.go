// Command abi checks package nccl's idea of NCCL against a real library, as far as that goes without a GPU: abi -name
// "nvidia-nccl-cu12 2.16.2" -version 2.16.2 PATH prints a row of a table and what is wrong below it.
//
// A library is checked in a process of its own: two of them would share environment and threads.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"busbar/cudart/nccl"
	"busbar/internal/dl"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "abi:", err)
		os.Exit(1)
	}
}

const layout = "%-24s  %-8s  %-5s  %-9s  %-10s  %s\n"

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("abi", flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("name", "", "name of the row")
	version := flags.String("version", "", "required version of the library")
	cuda := flags.String("cuda", "", "required major version of CUDA")
	header := flags.Bool("header", false, "print the header of the table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *header {
		fmt.Fprintf(stdout, layout, "library", "version", "CUDA", "functions", "parameters",
			"ncclConfig_t of 40 and 72 bytes")
	}
	if flags.NArg() == 0 && *header {
		return nil
	}
	if flags.NArg() != 1 {
		return errors.New("expected the path of one library")
	}
	l, err := nccl.Load(nccl.Options{Path: flags.Arg(0)})
	if err != nil {
		return err
	}
	id, err := l.NewID()
	if err != nil {
		return err
	}
	config, wrong := configs(l, id)
	there := 0
	for _, s := range l.Symbols() {
		if s.There {
			there++
		}
	}
	fmt.Fprintf(stdout, layout, *name, l.Info().Version, l.Info().CUDA,
		fmt.Sprintf("%d of %d", there, len(l.Symbols())),
		fmt.Sprint(len(l.Parameters())), config)
	return errors.Join(wrong, identity(l, *version, *cuda), symbols(l), texts(l), first(l, id),
		plain(flags.Arg(0)))
}

func configs(l *nccl.Library, id nccl.ID) (string, error) {
	switch looked, err := l.CheckConfig(id); {
	case err != nil:
		return "refused", err
	case looked:
		return "accepted, and one with a wrong mark refused", nil
	}
	return "not looked at without a GPU", nil
}

func identity(l *nccl.Library, version, cuda string) error {
	i := l.Info()
	if cuda != "" && !strings.HasPrefix(i.CUDA, cuda+".") {
		return fmt.Errorf("%s is built for CUDA %s, but reports CUDA %q", i.Path, cuda, i.CUDA)
	}
	if i.Name != nccl.NameNCCL || i.Rehearsed || version != "" && i.Version != version {
		return fmt.Errorf("%s is detected as %s %s, but is NCCL %s", i.Path, i.Name, i.Version, version)
	}
	return nil
}

// symbols compares the versions of the table with the library's: a function is there from its minor version on.
func symbols(l *nccl.Library) error {
	var wrong []error
	for _, s := range l.Symbols() {
		if due := s.Since > 0 && s.Since/100 <= l.Info().Code/100; due != s.There {
			wrong = append(wrong, fmt.Errorf("%s: the table has it since version code %d, and it is there: %t", s.Name,
				s.Since,
				s.There))
		}
	}
	return errors.Join(wrong...)
}

// texts asks for those of the results that the package has names for; libraries have had the first six from the start.
func texts(l *nccl.Library) error {
	seen := map[string]int{}
	for code := range 6 {
		text := l.ErrorText(code)
		before, twice := seen[text]
		if text == "" || twice {
			return fmt.Errorf("ncclGetErrorString(%d) is %q, as that of %d", code, text, before)
		}
		seen[text] = code
	}
	return nil
}

// first makes a communicator of one rank; without a GPU that must fail with an error of CUDA.
func first(l *nccl.Library, id nccl.ID) error {
	c, err := l.Init(1, 0, id, nccl.Config{})
	if err == nil {
		return c.Close()
	}
	var e *nccl.Error
	if !errors.As(err, &e) || e.Name != "ncclUnhandledCudaError" || !strings.Contains(e.Text, "cuda error") ||
		!strings.Contains(e.Last, "CUDA") {
		return fmt.Errorf("without a GPU a communicator should fail with an error of CUDA, and it was: %w", err)
	}
	return nil
}

// plain asks for NCCLX, which these libraries are not.
func plain(path string) error {
	var failed *dl.LoadError
	if _, err := nccl.Load(nccl.Options{Path: path, NCCLX: true}); !errors.As(err, &failed) || failed.Tried != nil {
		return fmt.Errorf("plain NCCL is detected as NCCLX: %v", err)
	}
	return nil
}
