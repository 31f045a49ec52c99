// Package deps pins modules until the packages that use them land.
package deps

import (
	_ "codeberg.org/go-fonts/liberation/liberationmonobold"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/sbinet/npyio"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "go.yaml.in/yaml/v4"
	_ "go4.org/unsafe/assume-no-moving-gc"
	_ "golang.org/x/image/draw"
	_ "golang.org/x/image/font/gofont/goregular"
	_ "golang.org/x/image/font/sfnt"
	_ "golang.org/x/image/vector"
	_ "golang.org/x/sys/cpu"
	_ "golang.org/x/term"
	_ "gonum.org/v1/gonum/blas/blas32"
	_ "gonum.org/v1/gonum/mat"
	_ "gonum.org/v1/gonum/stat"
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
	_ "google.golang.org/protobuf/proto"
	_ "gorgonia.org/tensor"
	_ "pgregory.net/rapid"
)
