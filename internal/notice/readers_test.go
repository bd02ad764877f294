package notice_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// readers are files that look into texts that are not this program's, or into its own for a reason.
var readers = map[string]string{
	"internal/document/text.go":     "breaks any text into lines",
	"internal/notice/files.go":      "removes the path that errors of the operating system have",
	"internal/notice/older.go":      "reads the sentences of older results files",
	"internal/notice/template.go":   "reads the templates of sentences",
	"internal/notice/todos.go":      "lists equal advice once",
	"internal/result/textfile.go":   "prints an error of the system once",
	"internal/strictyaml/errors.go": "reads the errors of the YAML library",
}

// No code reads a sentence: what a program needs to know is in the parameters of a fact.
func TestNoCodeReadsASentence(t *testing.T) {
	code := load(t)
	var found []string
	used := map[string]bool{}
	for _, r := range code.readers() {
		file, _, _ := strings.Cut(r, ":")
		if used[file] = true; readers[file] == "" {
			found = append(found, r)
		}
	}
	if len(found) > 0 {
		t.Errorf("code that looks into a sentence of this program; use a parameter of the fact:\n%s",
			strings.Join(found, "\n"))
	}
	for file := range readers {
		if !used[file] {
			t.Errorf("%s reads no sentence any more", file)
		}
	}
}

// Each way of reading a sentence is found; printing, joining and sorting sentences is none.
func TestReadersAreFound(t *testing.T) {
	const head = `package sample
import ("errors"; "fmt"; "slices"; "strings"; "busbar/internal/notice"; "busbar/internal/result")
var _ = fmt.Sprint; var _ = strings.ToUpper; var _ = slices.Sort[[]string]; var _ = errors.New
func f(n notice.Notice, k notice.Kept, r *result.Record, err error, out map[string]int) bool {
`
	code := load(t)
	for body, want := range map[string]int{
		`return strings.Contains(n.Message(), "a")`:                                                         1,
		`text := n.Message(); return strings.HasPrefix(text, "a")`:                                          1,
		`text := fmt.Sprintf("%s.", n.Message()); other := text; return strings.Contains(other, "a")`:       1,
		`return n.Message() == "a"`:                                                                         1,
		`return "a" != k.String()`:                                                                          1,
		`out[k.String()]++; return true`:                                                                    1,
		`return map[string]bool{k.String(): true}["a"]`:                                                     1,
		`switch k.String() { case "a": return true }; return false`:                                         1,
		`for _, text := range n.Details() { if strings.Contains(text, "a") { return true } }; return false`: 1,
		`return slices.Contains(n.Details(), "a")`:                                                          1,
		`return r.Reason == "a"`:                                                                            1,
		`return strings.Contains(err.Error(), "a")`:                                                         1,
		`return message(n) == "a" }; func message(n notice.Notice) string { return n.Message()`:             1,
		`return is(n.Message()) }; func is(text string) bool { return text == "a"`:                          1,
		`return slices.ContainsFunc([]int{1}, func(int) bool { text := n.Message(); return text == "a" })`:  1,
		`return same("a") == "a" }; func same(text string) string { return text`:                            0,
		`return same(n.Message()) == "a" }; func same(text string) string { return text`:                    1,
		`return n.Severity.String() == "error"`:                                                             0,
		`return n.Advice() == ""`:                                                                           0,
		`fmt.Println(n.Message(), strings.Join(n.Details(), " ")); return n.Code() == "a"`:                  0,
		`texts := n.Details(); slices.Sort(texts); return len(texts) > 1`:                                   0,
	} {
		found := code.with(t, head+body+"\n}\n").readersIn("busbar/sample")
		test.Len(t, want, found, test.Sprint(body))
	}
}

// searches are the functions that look into a text or a list of texts.
var searches = map[string][]string{
	"strings": {
		"Contains", "ContainsAny", "ContainsRune", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix",
		"TrimPrefix",
		"TrimSuffix", "Index", "IndexAny", "LastIndex", "Split", "SplitN", "Fields", "EqualFold", "Replace",
		"ReplaceAll",
	},
	"slices": {"Contains", "Index"},
	"regexp": {"MatchString", "FindString", "FindStringSubmatch", "FindStringIndex", "FindAllString",
		"ReplaceAllString"},
}

// sentences are fields that hold sentences of this program, by the package of their struct.
var sentences = map[string][]string{
	"busbar/internal/notice": {"Text", "Problem", "Message"},
	"busbar/internal/result": {"Reason"},
	"busbar/post/report":     {"Text"},
	"busbar/post/timeline":   {"Text", "Why", "Do"},
}

// program is the type-checked code of this module.
type program struct {
	fset     *token.FileSet
	importer types.Importer
	packages []*checked
	makes    map[string]bool // functions that return a sentence, by their full names
	passes   map[string]bool // functions that return one if they get one
	gets     map[string]bool // parameters that get one: the name of the function and a number
}

type checked struct {
	path  string
	files []*ast.File
	info  *types.Info
}

// load type-checks all packages of the module, but for their tests.
func load(t *testing.T) *program {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-compiled", "-deps",
		"-json=ImportPath,Export,CompiledGoFiles,Dir,Module",
		"./...")
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	must.NoError(t, err)
	type listed struct {
		ImportPath, Export, Dir string
		CompiledGoFiles         []string
		Module                  *struct{ Main bool }
	}
	var ours []listed
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if exports[p.ImportPath] = p.Export; p.Module != nil && p.Module.Main {
			ours = append(ours, p)
		}
	}
	code := &program{token.NewFileSet(), nil, nil, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	code.importer = importer.ForCompiler(code.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.CompiledGoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			file, err := parser.ParseFile(code.fset, name, nil, 0)
			must.NoError(t, err)
			files = append(files, file)
		}
		code.check(t, p.ImportPath, files)
	}
	return code
}

func (p *program) check(t *testing.T, path string, files []*ast.File) {
	t.Helper()
	c := &checked{path, files, &types.Info{Types: map[ast.Expr]types.TypeAndValue{},
		Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	_, err := (&types.Config{Importer: p.importer}).Check(path, p.fset, files, c.info)
	must.NoError(t, err)
	p.packages = append(p.packages, c)
}

// with is the program and one file more, of a package of its own.
func (p *program) with(t *testing.T, source string) *program {
	t.Helper()
	file, err := parser.ParseFile(p.fset, "sample.go", source, 0)
	must.NoError(t, err)
	more := &program{p.fset, p.importer, slices.Clone(p.packages), p.makes, p.passes, p.gets}
	more.check(t, "busbar/sample", []*ast.File{file})
	return more
}

// readers are the places at which code looks into a sentence, as file:line and what it does.
func (p *program) readers() (found []string) {
	root, _ := filepath.Abs(filepath.Join("..", ".."))
	for before := -1; before != len(p.makes)+len(p.passes)+len(p.gets); { // until nothing more is known
		before = len(p.makes) + len(p.passes) + len(p.gets)
		found = nil
		for _, c := range p.packages {
			found = append(found, p.readersOf(c, root)...)
		}
	}
	return found
}

func (p *program) readersIn(path string) (found []string) {
	i := slices.IndexFunc(p.packages, func(c *checked) bool { return c.path == path })
	p.readersOf(p.packages[i], "")
	return p.readersOf(p.packages[i], "")
}

func (p *program) readersOf(c *checked, root string) (found []string) {
	for _, file := range c.files {
		for _, d := range file.Decls {
			f := &flow{program: p, info: c.info, root: root}
			if of, is := d.(*ast.FuncDecl); is {
				f.function, _ = c.info.Defs[of.Name].(*types.Func)
			}
			f.follow(d, p.makes, func(int) bool { return false })
			f.follow(d, p.passes, func(int) bool { return true })
			f.follow(d, nil, func(i int) bool { return p.gets[fmt.Sprint(f.function.FullName(), i)] })
			ast.Inspect(d, f.look)
			found = append(found, f.found...)
		}
	}
	return found
}

// flow is the sentences in a function.
type flow struct {
	*program
	info     *types.Info
	function *types.Func // nil outside of functions
	holds    map[types.Object]bool
	returns  map[string]bool // nil: calls are looked at, too
	root     string
	found    []string
}

// follow follows sentences through a function that gets some as parameters; returns has those that return one then.
func (f *flow) follow(d ast.Decl, returns map[string]bool, gets func(int) bool) {
	f.holds, f.returns = map[types.Object]bool{}, returns
	if f.function != nil {
		params := f.function.Signature().Params()
		for i := range params.Len() {
			f.holds[params.At(i)] = textual(params.At(i).Type()) && gets(i)
		}
	}
	ast.Inspect(d, f.assigned)
	ast.Inspect(d, f.assigned) // what a loop assigns below its use
}

// assigned follows sentences into variables, and out of the function.
func (f *flow) assigned(n ast.Node) bool {
	hold := func(to ast.Expr) {
		if id, is := to.(*ast.Ident); is {
			if o := cmp.Or(f.info.Defs[id], f.info.Uses[id]); o != nil {
				f.holds[o] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) && f.sentence(n.Rhs[i]) {
				hold(to)
			}
		}
	case *ast.ValueSpec:
		for i, to := range n.Names {
			if i < len(n.Values) && f.sentence(n.Values[i]) {
				hold(to)
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil && f.sentence(n.X) {
			hold(n.Value)
		}
	case *ast.ReturnStmt:
		for _, of := range n.Results {
			if f.function != nil && f.returns != nil && len(n.Results) == 1 && f.sentence(of) {
				f.returns[f.function.FullName()] = true
			}
		}
	case *ast.CallExpr:
		callee := f.callee(n)
		if f.returns == nil && callee != nil && callee.Pkg() != nil &&
			strings.HasPrefix(callee.Pkg().Path(), "busbar/") {
			for i, of := range n.Args {
				if f.sentence(of) {
					f.gets[fmt.Sprint(callee.FullName(), min(i, callee.Signature().Params().Len()-1))] = true
				}
			}
		}
	case *ast.FuncLit:
		inside := *f
		inside.function = nil // what it returns is not of the function around it
		ast.Inspect(n.Body, inside.assigned)
		return false
	}
	return true
}

// look finds what is done with sentences.
func (f *flow) look(n ast.Node) bool {
	note := func(at ast.Node, what string) {
		p := f.fset.Position(at.Pos())
		file, _ := filepath.Rel(f.root, p.Filename)
		if f.root == "" {
			file = p.Filename
		}
		f.found = append(f.found, fmt.Sprintf("%s:%d %s", file, p.Line, what))
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		callee := f.callee(n)
		if callee == nil || callee.Pkg() == nil || !slices.Contains(searches[callee.Pkg().Path()], callee.Name()) {
			return true
		}
		if slices.ContainsFunc(n.Args, f.sentence) {
			note(n, callee.Name())
		}
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			for a, b := range map[ast.Expr]ast.Expr{n.X: n.Y, n.Y: n.X} {
				if f.sentence(a) && !f.empty(b) {
					note(n, n.Op.String())
					break
				}
			}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && f.sentence(n.Tag) {
			note(n, "switch")
		}
	case *ast.IndexExpr:
		if _, is := f.typeOf(n.X).(*types.Map); is && f.sentence(n.Index) {
			note(n, "map key")
		}
	case *ast.CompositeLit:
		if _, is := f.typeOf(n).(*types.Map); is {
			for _, e := range n.Elts {
				if pair, is := e.(*ast.KeyValueExpr); is && f.sentence(pair.Key) {
					note(pair, "map key")
				}
			}
		}
	}
	return true
}

func (f *flow) typeOf(e ast.Expr) types.Type {
	if t := f.info.Types[e].Type; t != nil {
		return t.Underlying()
	}
	return nil
}

// empty reports whether an expression is "" or nil: whether there is a sentence may be asked.
func (f *flow) empty(e ast.Expr) bool {
	v := f.info.Types[e]
	return v.IsNil() || v.Value != nil && v.Value.String() == `""`
}

func (f *flow) callee(call *ast.CallExpr) *types.Func {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		callee, _ := f.info.Uses[fun].(*types.Func)
		return callee
	case *ast.SelectorExpr:
		callee, _ := f.info.Uses[fun.Sel].(*types.Func)
		return callee
	}
	return nil
}

// sentence reports whether an expression is a sentence of this program, or a list of sentences.
func (f *flow) sentence(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return f.holds[cmp.Or(f.info.Uses[e], f.info.Defs[e])]
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (f.sentence(e.X) || f.sentence(e.Y))
	case *ast.IndexExpr:
		return f.sentence(e.X)
	case *ast.CompositeLit:
		_, is := f.typeOf(e).(*types.Slice)
		return is && slices.ContainsFunc(e.Elts, f.sentence)
	case *ast.SelectorExpr:
		s := f.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && s.Obj().Pkg() != nil &&
			types.Identical(s.Type(), types.Typ[types.String]) &&
			slices.Contains(sentences[s.Obj().Pkg().Path()], s.Obj().Name())
	case *ast.CallExpr:
		return f.made(e)
	}
	return false
}

// made reports whether a call returns a sentence.
func (f *flow) made(call *ast.CallExpr) bool {
	callee := f.callee(call)
	if callee == nil { // a conversion, or a function of the language such as append
		return textual(f.info.Types[call].Type) && slices.ContainsFunc(call.Args, f.sentence)
	}
	if callee.Pkg() == nil { // of error
		return callee.Name() == "Error"
	}
	result := callee.Signature().Results()
	if result.Len() != 1 || !textual(result.At(0).Type()) {
		return false
	}
	switch path := callee.Pkg().Path(); path {
	case "fmt", "strings", "slices", "busbar/internal/units":
		return slices.ContainsFunc(call.Args, f.sentence)
	case "busbar/internal/notice":
		return !named(callee)
	}
	return callee.Name() == "Error" && callee.Signature().Recv() != nil || f.makes[callee.FullName()] ||
		f.passes[callee.FullName()] && slices.ContainsFunc(call.Args, f.sentence)
}

// named reports whether a function is String of a type that JSON has by that name: an enumeration.
func named(f *types.Func) bool {
	recv := f.Signature().Recv()
	if recv == nil || f.Name() != "String" {
		return false
	}
	o, _, _ := types.LookupFieldOrMethod(recv.Type(), true, f.Pkg(), "MarshalText")
	return o != nil
}

// textual reports whether a type is string or a list of strings.
func textual(t types.Type) bool {
	if t == nil {
		return false
	}
	if list, is := t.Underlying().(*types.Slice); is {
		t = list.Elem()
	}
	return types.Identical(t, types.Typ[types.String])
}
