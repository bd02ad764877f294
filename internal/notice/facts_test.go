package notice_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// Every type that the program makes a fact has an entry in a catalogue: CodeOf panics without one.
func TestFactsAreRegistered(t *testing.T) {
	registered := map[string]bool{}
	for _, e := range notice.Entries() {
		registered[fmt.Sprintf("%T", e.Example())] = true
	}
	code, facts := load(t), 0
	for _, c := range code.packages {
		becomes := func(to types.Type, value ast.Expr) {
			of := c.info.TypeOf(value)
			if to == nil || to.String() != "busbar/internal/notice.Fact" || types.IsInterface(of) ||
				of == types.Typ[types.UntypedNil] {
				return
			}
			facts++
			name := types.TypeString(of, (*types.Package).Name)
			test.True(t, registered[name], test.Sprint(code.fset.Position(value.Pos()), " ", name))
		}
		for _, file := range c.files {
			ast.PreorderStack(file, nil, func(n ast.Node, around []ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s, is := c.info.TypeOf(n.Fun).(*types.Signature); is && !n.Ellipsis.IsValid() {
						for i, value := range n.Args {
							becomes(parameter(s, i), value)
						}
					}
				case *ast.CompositeLit:
					elements(c.info, n, becomes)
				case *ast.ReturnStmt:
					if s := signature(c.info, around); s != nil && s.Results().Len() == len(n.Results) {
						for i, value := range n.Results {
							becomes(s.Results().At(i).Type(), value)
						}
					}
				}
				return true
			})
		}
	}
	test.Greater(t, 300, facts)
}

// parameter is the type of an argument.
func parameter(s *types.Signature, i int) types.Type {
	last := s.Params().Len() - 1
	if list, is := s.Params().At(max(0, min(i, last))).Type().(*types.Slice); is && s.Variadic() && i >= last {
		return list.Elem()
	}
	return s.Params().At(min(i, last)).Type()
}

// signature is that of the innermost function.
func signature(info *types.Info, around []ast.Node) *types.Signature {
	for i := len(around) - 1; i >= 0; i-- {
		switch f := around[i].(type) {
		case *ast.FuncLit:
			return info.TypeOf(f).(*types.Signature)
		case *ast.FuncDecl:
			return info.Defs[f.Name].Type().(*types.Signature)
		}
	}
	return nil
}

// elements calls f with each element of a literal and the type that it gets.
func elements(info *types.Info, n *ast.CompositeLit, f func(to types.Type, value ast.Expr)) {
	for _, e := range n.Elts {
		pair, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			e = pair.Value
		}
		switch of := info.TypeOf(n).Underlying().(type) {
		case interface{ Elem() types.Type }:
			f(of.Elem(), e)
		case *types.Struct:
			if keyed {
				f(info.Uses[pair.Key.(*ast.Ident)].Type(), e)
			}
		}
	}
}
