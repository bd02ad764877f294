// Command man makes manual pages of what programs print for --help, one page per program and per subcommand:
//
//	man -o share/man/man1 bin/rank bin/post
//
// The help is the manual: nothing is said here that a program does not say itself.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("o", "share/man/man1", "folder for the pages")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

func run(out string, programs []string) error {
	if len(programs) == 0 {
		return fmt.Errorf("name the programs to make pages of: man -o DIR bin/rank bin/post")
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, program := range programs {
		version, err := ask(program, "--version")
		if err != nil {
			return err
		}
		if err := write(out, version, program); err != nil {
			return err
		}
	}
	return nil
}

// write makes the page of a program or subcommand and those of its own subcommands.
func write(out, version, program string, sub ...string) error {
	help, err := ask(program, append(sub, "--help")...)
	if err != nil {
		return err
	}
	name := strings.Join(append([]string{filepath.Base(program)}, sub...), "-")
	if err := os.WriteFile(filepath.Join(out, name+".1"), []byte(page(name, version, help)), 0o666); err != nil {
		return err
	}
	for _, command := range commands(help) {
		if err := write(out, version, program, append(sub, command)...); err != nil {
			return err
		}
	}
	return nil
}

func ask(program string, args ...string) (string, error) {
	path, err := filepath.Abs(program)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "COLUMNS=80", "NO_COLOR=1")
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
