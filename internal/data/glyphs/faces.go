package glyphs

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonobolditalic"
	"codeberg.org/go-fonts/liberation/liberationmonoitalic"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansbolditalic"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifbolditalic"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/gofont/gosmallcapsitalic"
	"golang.org/x/image/font/sfnt"
)

// face is one parsed font.
type face struct {
	name      string
	smallCaps bool // draws lower-case letters as capitals: it has none of them
	font      *sfnt.Font
	loaded    *sync.Map // outlines by rune
}

// Indices into the faces of loadFaces. Their order is part of the format: an
// image's face is drawn by its index.
const (
	sansRegular  = 8  // Liberation Sans Regular
	serifRegular = 4  // Liberation Serif Regular
	monoRegular  = 0  // Liberation Mono Regular
	faceCount    = 24 // 12 Liberation and 12 Go faces
)

var loadFaces = sync.OnceValues(func() ([]face, error) {
	list := []struct {
		name string
		ttf  []byte
	}{
		{"Liberation Mono Regular", liberationmonoregular.TTF},
		{"Liberation Mono Italic", liberationmonoitalic.TTF},
		{"Liberation Mono Bold", liberationmonobold.TTF},
		{"Liberation Mono Bold Italic", liberationmonobolditalic.TTF},
		{"Liberation Serif Regular", liberationserifregular.TTF},
		{"Liberation Serif Italic", liberationserifitalic.TTF},
		{"Liberation Serif Bold", liberationserifbold.TTF},
		{"Liberation Serif Bold Italic", liberationserifbolditalic.TTF},
		{"Liberation Sans Regular", liberationsansregular.TTF},
		{"Liberation Sans Italic", liberationsansitalic.TTF},
		{"Liberation Sans Bold", liberationsansbold.TTF},
		{"Liberation Sans Bold Italic", liberationsansbolditalic.TTF},
		{"Go Regular", goregular.TTF},
		{"Go Italic", goitalic.TTF},
		{"Go Medium", gomedium.TTF},
		{"Go Medium Italic", gomediumitalic.TTF},
		{"Go Bold", gobold.TTF},
		{"Go Bold Italic", gobolditalic.TTF},
		{"Go Mono", gomono.TTF},
		{"Go Mono Italic", gomonoitalic.TTF},
		{"Go Mono Bold", gomonobold.TTF},
		{"Go Mono Bold Italic", gomonobolditalic.TTF},
		{"Go Smallcaps", gosmallcaps.TTF},
		{"Go Smallcaps Italic", gosmallcapsitalic.TTF},
	}
	faces := make([]face, len(list))
	for i, l := range list {
		f, err := sfnt.Parse(l.ttf)
		if err != nil {
			return nil, fmt.Errorf("glyphs: built-in font %s: %w", l.name, err)
		}
		faces[i] = face{name: l.name, smallCaps: i >= 22, font: f, loaded: new(sync.Map)}
	}
	return faces, nil
})
