package notice

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// searches are the functions that look into a text.
var searches = []string{
	"Contains", "ContainsAny", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix", "Index",
	"LastIndex", "Split", "Fields", "EqualFold", "Replace", "ReplaceAll", "MatchString", "FindString", "FindStringSubmatch",
}

// ours are methods, functions and fields that make or hold sentences of this program.
var ours = []string{
	"Message", "Sentence", "Sentences", "Details", "Advice", "ToDo", "How", "Text", "Texts", "Says", "Why", "Do", "Error",
}

// readers are files that look into texts that are not this program's, or into its own for a reason.
var readers = map[string]string{
	"cudart/cublas/errors.go":          "the loader's error, in one line",
	"gloo/errors.go":                   "Gloo's text",
	"internal/dl/dl.go":                "the loader's error",
	"internal/strictyaml/errors.go":    "the errors of the YAML library",
	"internal/tools/abi/main.go":       "a header's text",
	"internal/tools/bench/programs.go": "another program's output",
	"internal/tools/bench/words.go":    "another program's output",
	"mpi/errors.go":                    "MPI's text",
	"post/nccllog/explain.go":          "NCCL's message",
	"post/nccllog/findnet.go":          "NCCL's name of a transport",
	"post/nccllog/ras.go":              "the output of ncclras",
	"post/plot/note.go":                "breaks any text into lines",
	"post/report/documentrest.go":      "puts any text on one line",
	"rank/ending.go":                   "prints no error twice",
	"rank/step_gpu.go":                 "an error in one line",
	"internal/notice/files.go":         "removes the path that errors of the operating system have",
	"internal/notice/older.go":         "reads the sentences of older results files",
}

// No code reads a sentence: what a program needs to know is in the parameters of a fact.
func TestNoCodeReadsASentence(t *testing.T) {
	root := filepath.Join("..", "..")
	var found []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || e.Name() == "bin"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || readers[name] != "":
			return nil
		}
		found = append(found, sentenceReaders(t, path, name)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("code that looks into a sentence of this program; use a parameter of the fact:\n%s", strings.Join(found, "\n"))
	}
}

// sentenceReaders are the places of a file at which a search gets a sentence of ours.
func sentenceReaders(t *testing.T, path, name string) (found []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		f, is := call.Fun.(*ast.SelectorExpr)
		if !is || !slices.Contains(searches, f.Sel.Name) {
			return true
		}
		for _, argument := range call.Args {
			ast.Inspect(argument, func(n ast.Node) bool {
				if s, is := n.(*ast.SelectorExpr); is && slices.Contains(ours, s.Sel.Name) {
					found = append(found, name+":"+fset.Position(s.Pos()).String()[len(path)+1:]+" "+f.Sel.Name+" of "+s.Sel.Name)
				}
				return true
			})
		}
		return true
	})
	return found
}
