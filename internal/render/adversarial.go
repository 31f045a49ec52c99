package render

import (
	"fmt"
	"image"
	"math"
)

// AdversarialRow is one attacked image.
type AdversarialRow struct {
	Heading            string // optional: a line above the row
	Clean, Adversarial Tile
	Target             *Tile      // optional: what the attack aims at
	Before, After      []Neighbor // optional: the nearest items of both
}

// AdversarialSheet writes a PNG with a row for each attacked image: clean, the
// perturbation amplified around mid-gray, adversarial, and, if given, what it was
// aimed at and the neighbors of clean and adversarial. gain amplifies all rows
// alike; 0 chooses it so that the largest perturbation of all just fills the range.
func AdversarialSheet(path, title string, rows []AdversarialRow, gain float64) error {
	if len(rows) == 0 {
		return fmt.Errorf("adversarial sheet %s: no images", path)
	}
	if gain < 0 || math.IsNaN(gain) || math.IsInf(gain, 0) {
		return fmt.Errorf("adversarial sheet %s: gain %v; give a positive number, or 0 for automatic", path, gain)
	}
	var images []Image
	before, after, headings, targets := 0, 0, 0, false
	for i, r := range rows {
		all := []Image{r.Clean.Image, r.Adversarial.Image}
		if r.Target != nil {
			all, targets = append(all, r.Target.Image), true
		}
		if r.Heading != "" {
			headings++
		}
		for _, n := range append(append([]Neighbor{}, r.Before...), r.After...) {
			all = append(all, n.Image)
		}
		for j, m := range all {
			if err := m.check(); err != nil {
				return fmt.Errorf("adversarial sheet %s: row %d, image %d: %w", path, i, j, err)
			}
		}
		a, b := all[0], all[1]
		if a.H != b.H || a.W != b.W || a.C != b.C {
			return fmt.Errorf("adversarial sheet %s: row %d: clean image %dx%dx%d, adversarial %dx%dx%d", path, i, a.H, a.W, a.C, b.H, b.W, b.C)
		}
		images = append(images, all...)
		before, after = max(before, len(r.Before)), max(after, len(r.After))
	}
	largest := largestChange(rows)
	if gain == 0 {
		gain = 1
		if largest > 0 {
			gain = 0.5 / largest
		}
	}
	const gap, caption, heading, split, section = 16, 18, 24, 20, 30
	side := tileSize(96, images...)
	top := header(title) + heading
	columns := []string{"clean", fmt.Sprintf("change × %.3g", gain), "adversarial"}
	starts := []int{margin, margin + side + gap, margin + 2*(side+gap)}
	if targets {
		columns, starts = append(columns, "aimed at"), append(starts, margin+3*(side+gap))
	}
	x := starts[len(starts)-1] + side
	beforeX, afterX := 0, 0
	if before > 0 {
		beforeX = x + gap + split
		x = beforeX + before*(side+gap) - gap
	}
	if after > 0 {
		afterX = x + gap + split
		x = afterX + after*(side+gap) - gap
	}
	note := fmt.Sprintf("Largest change of a pixel: %.4g (%.3g / 255).", largest, largest*255)
	s, err := newSheet(title, x+margin, top+len(rows)*(side+gap+caption)+headings*section-gap+margin+caption)
	if err != nil {
		return fmt.Errorf("adversarial sheet %s: %w", path, err)
	}
	for j, c := range columns {
		s.center(s.words, faint, c, starts[j]-gap/2, top-12, side+gap)
	}
	if before > 0 {
		s.write(s.words, faint, "nearest to clean", beforeX, top-12, before*(side+gap)-gap)
	}
	if after > 0 {
		s.write(s.words, faint, "nearest to adversarial", afterX, top-12, after*(side+gap)-gap)
	}
	y := top - (side + gap + caption)
	for _, r := range rows {
		y += side + gap + caption
		if r.Heading != "" {
			s.write(s.words, ink, r.Heading, margin, y+wordSize, s.Bounds().Dx()-2*margin)
			y += section
		}
		s.framed(Neighbor{Tile: r.Clean}, true, starts[0], y, side)
		s.tile(change(r.Clean.Image, r.Adversarial.Image, gain), image.Rect(starts[1], y, starts[1]+side, y+side))
		s.framed(Neighbor{Tile: r.Adversarial}, true, starts[2], y, side)
		if r.Target != nil {
			s.framed(Neighbor{Tile: *r.Target}, true, starts[3], y, side)
		}
		for j, n := range r.Before {
			s.framed(n, false, beforeX+j*(side+gap), y, side)
		}
		for j, n := range r.After {
			s.framed(n, false, afterX+j*(side+gap), y, side)
		}
	}
	s.write(s.small, faint, note, margin, s.Bounds().Max.Y-margin+4, s.Bounds().Dx()-2*margin)
	return s.save(path)
}

// largestChange is that of a pixel of all rows.
func largestChange(rows []AdversarialRow) (largest float64) {
	for _, r := range rows {
		for j, v := range r.Clean.Image.Pix {
			largest = max(largest, math.Abs(float64(r.Adversarial.Image.Pix[j])-float64(v)))
		}
	}
	return largest
}

func change(a, b Image, gain float64) Image {
	m := Image{Pix: make([]float32, len(a.Pix)), H: a.H, W: a.W, C: a.C}
	for i, v := range a.Pix {
		m.Pix[i] = float32(0.5 + gain*(float64(b.Pix[i])-float64(v)))
	}
	return m
}
