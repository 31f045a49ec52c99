// Package asm holds what the generators of the kernel families share.
package asm

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Struct returns the text of the struct type called name in a Go file, for use
// in a signature: the offsets of its fields are taken from the Go source. Avo
// knows no names of package kernel, so the stubs of such functions are written
// by hand, where go vet compares the frames.
func Struct(file, name string) string {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		panic(err)
	}
	spec, ok := f.Scope.Lookup(name).Decl.(*ast.TypeSpec)
	if !ok {
		panic(fmt.Sprintf("%s: no type %s", file, name))
	}
	var text []string
	for _, field := range spec.Type.(*ast.StructType).Fields.List {
		var kind bytes.Buffer
		if err := printer.Fprint(&kind, token.NewFileSet(), field.Type); err != nil {
			panic(err)
		}
		for _, n := range field.Names {
			text = append(text, n.Name+" "+kind.String())
		}
	}
	return "struct{" + strings.Join(text, "; ") + "}"
}

// Args is a struct of arguments that the function's one parameter points to.
type Args struct{ at gotypes.Component }

// LoadArgs reads the pointer; it may be called again to free a register.
func LoadArgs(param string) Args { return Args{Dereference(Param(param))} }

// Mem is the memory operand of a field.
func (a Args) Mem(field string) Mem {
	b, err := a.at.Field(field).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// Load reads a field into a new general register.
func (a Args) Load(field string) reg.Register { return Load(a.at.Field(field), GP64()) }

// Bytes reads a field that counts float32 numbers, as bytes.
func (a Args) Bytes(field string) reg.Register {
	r := a.Load(field)
	SHLQ(Imm(2), r)
	return r
}
