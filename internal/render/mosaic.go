package render

import (
	"cmp"
	"fmt"
	"image"

	"golang.org/x/image/font"
)

// Verdict says whether a member of a cluster belongs there, where truth is known.
type Verdict uint8

// Verdicts of a member.
const (
	NoTruth Verdict = iota // truth is not known
	Right
	Wrong
)

// Member is an image of a cluster.
type Member struct {
	Tile
	Verdict Verdict
}

// MosaicGroup is a cluster: a row of a mosaic.
type MosaicGroup struct {
	Name    string // such as "cluster 3"
	Note    string // below the name, such as "312 images, 94 % frog"
	Members []Member
	Of      string // whose class members have or have not; "" is the cluster
}

// Mosaic writes a PNG with a row of images for each cluster, at its left the name
// and the note. Members that belong there have a thin green frame, those that do not
// a thick red one and a mark; those of which that is not known have neither.
func Mosaic(path, title string, groups []MosaicGroup) error {
	var images []Image
	most, captions, withTruth := 0, false, false
	for i, g := range groups {
		for j, m := range g.Members {
			if err := m.Image.check(); err != nil {
				return fmt.Errorf("mosaic %s: group %d (%s), image %d: %w", path, i, g.Name, j, err)
			}
			if m.Verdict > Wrong {
				return fmt.Errorf("mosaic %s: group %d (%s), image %d: verdict %d", path, i, g.Name, j, m.Verdict)
			}
			images = append(images, m.Image)
			captions = captions || m.Caption != "" || m.Verdict == Wrong
			withTruth = withTruth || m.Verdict != NoTruth
		}
		most = max(most, len(g.Members))
	}
	if len(images) == 0 {
		return fmt.Errorf("mosaic %s: %d groups without images; nothing to show", path, len(groups))
	}
	const gap, caption, split, narrow, wide = 14, 18, 18, 60, 230
	side, line := tileSize(48, images...), 0
	if captions {
		line = caption
	}
	words, small, _, err := faces()
	if err != nil {
		return err
	}
	label := narrow
	for _, g := range groups {
		label = max(label, font.MeasureString(words, g.Name).Ceil(), font.MeasureString(small, g.Note).Ceil())
	}
	label = min(label, wide)
	top, note := header(title), 0
	if withTruth {
		note = 12 + wordSize
	}
	w := 2*margin + label + split + most*(side+gap) - gap
	s, err := newSheet(title, w, top+len(groups)*(side+gap+line)-gap+note+margin)
	if err != nil {
		return fmt.Errorf("mosaic %s: %w; or fewer groups", path, err)
	}
	for i, g := range groups {
		y := top + i*(side+gap+line)
		s.write(s.words, ink, g.Name, margin, y+side/2-2, label)
		s.write(s.small, faint, g.Note, margin, y+side/2+smallSize+4, label)
		for j, m := range g.Members {
			s.member(m, margin+label+split+j*(side+gap), y, side)
		}
	}
	if withTruth {
		s.write(s.small, faint, fmt.Sprintf("green: of the %s's class; thick red, ×: of another", cmp.Or(groups[0].Of, "cluster")), margin, s.Bounds().Dy()-margin, s.Bounds().Dx()-2*margin)
	}
	return s.save(path)
}

// member draws an image in the frame of its verdict.
func (s *sheet) member(m Member, x, y, side int) {
	box := image.Rect(x, y, x+side, y+side)
	s.tile(m.Image, box)
	c, caption := ink, m.Caption
	switch m.Verdict {
	case Right:
		s.frame(box, 3, right)
	case Wrong: // also distinguished without color
		s.frame(box, 5, wrong)
		c = wrong
		if caption = "× " + caption; m.Caption == "" {
			caption = "×"
		}
	}
	s.center(s.small, c, caption, x-6, y+side+smallSize+5, side+12)
}
