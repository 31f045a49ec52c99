package glyphs

import (
	"math/bits"
	"slices"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

// The repertoire is the list of characters that may become classes. It is kept
// in repertoire_table.go, so that it is part of the format and costs nothing at
// start; a test derives it again with deriveRepertoire and compares.
//
// A code point of the basic multilingual plane is in it if it is a letter, a
// number, a symbol or punctuation, at least minFaces faces draw it, and in none
// of three reference faces (Liberation Sans, Serif and Mono Regular) its outline
// looks like that of a smaller code point that is in it already. Outlines are
// compared after moving and scaling them to the same box, because the images
// vary place and size: Greek Alpha and Cyrillic A go for Latin A, c goes for C,
// the en dash for the hyphen. Two masks of maskSide x maskSide pixels look alike
// if their union is at most alike percent larger than their intersection. The two
// cases of a letter look alike already at alikeCase percent, since one is often
// the other made smaller with strokes as thick (o and O, v and V), which heavier
// and lighter faces undo; what looks like the case left out is left out too.
const (
	minFaces = 8
	maskSide = 32

	alike     = 32
	alikeCase = 60
)

type mask [maskSide * maskSide / 64]uint64

func deriveRepertoire() ([]rune, error) {
	faces, err := loadFaces()
	if err != nil {
		return nil, err
	}
	references := [3]int{sansRegular, serifRegular, monoRegular}
	var buf sfnt.Buffer
	var kept []rune
	var shapes []shape // of the characters kept, and of their other cases
	for r := rune('!'); r <= 0xFFFF; r++ {
		if !unicode.In(r, unicode.L, unicode.N, unicode.S, unicode.P) || !enoughFaces(faces, &buf, r) {
			continue
		}
		own := shape{code: r}
		missing := false
		for i, f := range references {
			o, err := load(&faces[f], &buf, r)
			if err != nil {
				return nil, err
			}
			if o == nil {
				missing = true
				break
			}
			own.masks[i] = o.mask()
		}
		if missing || slices.ContainsFunc(shapes, func(s shape) bool { return s.alike(&own, alike) }) {
			continue
		}
		if !slices.ContainsFunc(shapes, func(s shape) bool { return sameLetter(s.code, r) && s.alike(&own, alikeCase) }) {
			kept = append(kept, r)
		}
		shapes = append(shapes, own)
	}
	return kept, nil
}

func enoughFaces(faces []face, buf *sfnt.Buffer, r rune) bool {
	n := 0
	for i := range faces {
		if g, err := faces[i].font.GlyphIndex(buf, r); err == nil && g != 0 && !faces[i].hides(r) {
			n++
		}
	}
	return n >= minFaces
}

// mask returns the pixels of the outline that are at least half covered, the
// outline's longer side filling the frame.
func (o *outline) mask() mask {
	var r raster
	var cover [maskSide * maskSide]int32
	r.reset(maskSide)
	r.polygon(o.points, o.ends)
	r.fill(cover[:], one)
	var m mask
	for i, c := range cover {
		if c >= one/2 {
			m[i/64] |= 1 << (i % 64)
		}
	}
	return m
}

// shape is a character in the reference faces.
type shape struct {
	code  rune
	masks [3]mask
}

func (s *shape) alike(t *shape, percent int) bool {
	for i := range s.masks {
		both, either := 0, 0
		for j, m := range s.masks[i] {
			both += bits.OnesCount64(m & t.masks[i][j])
			either += bits.OnesCount64(m | t.masks[i][j])
		}
		if (either-both)*100 <= percent*both {
			return true
		}
	}
	return false
}

// sameLetter reports whether a and b are cases of one letter.
func sameLetter(a, b rune) bool {
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return false
}
