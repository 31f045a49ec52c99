package render

import (
	"image"
	"image/draw"
	"io"
	"math"
)

// Sprite writes a PNG with the pictures in squares of that side, in as many columns as
// spriteColumns says.
func Sprite(w io.Writer, list []Image, side int) error {
	n := spriteColumns(len(list))
	out := image.NewRGBA(image.Rect(0, 0, n*side, (len(list)+n-1)/n*side))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src) // a color more would make gray sprites four times as large
	for i, m := range list {
		if err := m.check(); err != nil {
			return err
		}
		x, y := i%n*side, i/n*side
		m.paint(out, image.Rect(x, y, x+side, y+side))
	}
	return encode(w, out)
}

// spriteColumns is how many pictures stand in a row of a sprite of so many.
func spriteColumns(pictures int) int { return max(1, int(math.Ceil(math.Sqrt(float64(pictures))))) }
