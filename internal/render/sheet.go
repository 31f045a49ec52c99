package render

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"tercet/internal/fsx"
)

// sheet is a white page on which tiles and words are placed by pixel.
type sheet struct {
	*image.RGBA
	words, small, bold font.Face
}

// Sizes of a sheet in pixels.
const (
	margin    = 20
	titleSize = 22
	wordSize  = 15
	smallSize = 13
	maxSheet  = 1 << 27 // pixels
)

var fonts = sync.OnceValues(func() ([2]*opentype.Font, error) {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return [2]*opentype.Font{}, err
	}
	bold, err := opentype.Parse(liberationsansbold.TTF)
	return [2]*opentype.Font{regular, bold}, err
})

func faces() (words, small, bold font.Face, err error) {
	f, err := fonts()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, v := range []struct {
		face *font.Face
		font *opentype.Font
		size float64
	}{{&words, f[0], wordSize}, {&small, f[0], smallSize}, {&bold, f[1], titleSize}} {
		*v.face, err = opentype.NewFace(v.font, &opentype.FaceOptions{Size: v.size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return words, small, bold, nil
}

// newSheet makes a page of w x h pixels, at least wide enough for the title.
func newSheet(title string, w, h int) (*sheet, error) {
	words, small, bold, err := faces()
	if err != nil {
		return nil, err
	}
	if title != "" {
		w = max(w, min(font.MeasureString(bold, title).Ceil()+2*margin, 4000))
	}
	if w > maxSheet/max(h, 1) {
		return nil, fmt.Errorf("picture of %d x %d pixels is too large; show fewer tiles", w, h)
	}
	s := &sheet{image.NewRGBA(image.Rect(0, 0, w, h)), words, small, bold}
	draw.Draw(s, s.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	s.write(s.bold, ink, title, margin, margin+titleSize, w-2*margin)
	return s, nil
}

// write puts a line of words with its baseline at y, cut to width with an
// ellipsis.
func (s *sheet) write(f font.Face, c color.Color, words string, x, y, width int) {
	d := font.Drawer{Dst: s, Src: image.NewUniform(c), Face: f, Dot: fixed.P(x, y)}
	d.DrawString(fit(f, words, width))
}

// center is write in the middle of [x, x+width).
func (s *sheet) center(f font.Face, c color.Color, words string, x, y, width int) {
	words = fit(f, words, width)
	s.write(f, c, words, x+(width-font.MeasureString(f, words).Ceil())/2, y, width)
}

func fit(f font.Face, words string, width int) string {
	if font.MeasureString(f, words).Ceil() <= width {
		return words
	}
	r := []rune(words)
	for len(r) > 0 && font.MeasureString(f, string(r)+"…").Ceil() > width {
		r = r[:len(r)-1]
	}
	if len(r) == 0 {
		return ""
	}
	return string(r) + "…"
}

// frame draws a border of the given thickness outside box.
func (s *sheet) frame(box image.Rectangle, thick int, c color.Color) {
	u := image.NewUniform(c)
	o := box.Inset(-thick)
	for _, r := range []image.Rectangle{
		{o.Min, image.Pt(o.Max.X, box.Min.Y)}, {image.Pt(o.Min.X, box.Max.Y), o.Max},
		{o.Min, image.Pt(box.Min.X, o.Max.Y)}, {image.Pt(box.Max.X, o.Min.Y), o.Max},
	} {
		draw.Draw(s, r, u, image.Point{}, draw.Src)
	}
}

// tile paints an image in a thin gray frame, so that white images show.
func (s *sheet) tile(m Image, box image.Rectangle) {
	s.frame(box, 1, rule)
	m.paint(s.RGBA, box)
}

func (s *sheet) save(path string) error {
	return fsx.Write(path, 0o644, func(w io.Writer) error { return encode(w, s.RGBA) })
}

// tileSize returns the side of a tile for images of these sizes: small images
// are enlarged by a whole factor to at least want pixels, large ones reduced.
func tileSize(want int, images ...Image) int {
	side := 1
	for _, m := range images {
		side = max(side, m.H, m.W)
	}
	if side >= want {
		return min(side, 2*want)
	}
	return (want + side - 1) / side * side
}
