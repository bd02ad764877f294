package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"post": main})
}

// TestScripts runs whole commands; `fixture NAME DIR` writes a made-up run, `truncate FILE N` cuts N bytes off its end.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				f, ok := fixtures[args[0]]
				if !ok {
					ts.Fatalf("no fixture %s", args[0])
				}
				f.save(t, ts.MkAbs(args[1]))
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				path := ts.MkAbs(args[0])
				info, err := os.Stat(path)
				ts.Check(err)
				ts.Check(os.Truncate(path, info.Size()*9/10))
			},
			"pictures": func(ts *testscript.TestScript, _ bool, args []string) {
				names, err := filepath.Glob(ts.MkAbs(args[0]))
				ts.Check(err)
				if len(names) < 4 {
					ts.Fatalf("%d pictures: %v", len(names), names)
				}
			},
		},
	})
}
