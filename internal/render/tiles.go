package render

import (
	"fmt"
	"image"
	"strconv"
)

// Tile is an image with words below it.
type Tile struct {
	Image   Image
	Caption string
}

// ContactSheet writes a PNG with the tiles in rows of cols.
func ContactSheet(path, title string, tiles []Tile, cols int) error {
	if len(tiles) == 0 || cols < 1 {
		return fmt.Errorf("contact sheet %s: %d tiles in rows of %d; nothing to show", path, len(tiles), cols)
	}
	var images []Image
	for i, t := range tiles {
		if err := t.Image.check(); err != nil {
			return fmt.Errorf("contact sheet %s: tile %d: %w", path, i, err)
		}
		images = append(images, t.Image)
	}
	const gap, caption = 8, 20
	side := tileSize(64, images...)
	captions := 0
	for _, t := range tiles {
		if t.Caption != "" {
			captions = caption
		}
	}
	cols = min(cols, len(tiles))
	rows := (len(tiles) + cols - 1) / cols
	top := header(title)
	s, err := newSheet(title, 2*margin+cols*(side+gap)-gap, top+rows*(side+gap+captions)-gap+margin)
	if err != nil {
		return fmt.Errorf("contact sheet %s: %w", path, err)
	}
	for i, t := range tiles {
		x, y := margin+i%cols*(side+gap), top+i/cols*(side+gap+captions)
		s.tile(t.Image, image.Rect(x, y, x+side, y+side))
		s.center(s.small, ink, t.Caption, x-gap/2+1, y+side+smallSize+1, side+gap-2)
	}
	return s.save(path)
}

func header(title string) int {
	if title == "" {
		return margin
	}
	return margin + titleSize + 18
}

// Neighbor is a retrieved item.
type Neighbor struct {
	Tile
	Correct bool // of the query's class
}

// RetrievalRow is a query and its nearest items, nearest first.
type RetrievalRow struct {
	Query     Tile
	Neighbors []Neighbor
}

// Retrieval writes a PNG with a row for each query: the query in a gray frame,
// then its neighbors by rank, in a thin green frame if they are of its class
// and in a thick red one, with a mark, if not.
func Retrieval(path, title string, rows []RetrievalRow) error {
	if len(rows) == 0 {
		return fmt.Errorf("retrieval mosaic %s: no queries", path)
	}
	var images []Image
	k := 0
	for i, r := range rows {
		images = append(images, r.Query.Image)
		for _, n := range r.Neighbors {
			images = append(images, n.Image)
		}
		for j, m := range images[len(images)-1-len(r.Neighbors):] {
			if err := m.check(); err != nil {
				return fmt.Errorf("retrieval mosaic %s: query %d, image %d: %w", path, i, j, err)
			}
		}
		k = max(k, len(r.Neighbors))
	}
	const gap, caption, split, heading = 16, 18, 20, 24
	side := tileSize(64, images...)
	top := header(title) + heading
	w := 2*margin + (k+1)*(side+gap) - gap + split
	s, err := newSheet(title, w, top+len(rows)*(side+gap+caption)-gap+margin)
	if err != nil {
		return fmt.Errorf("retrieval mosaic %s: %w", path, err)
	}
	s.center(s.words, faint, "query", margin, top-12, side)
	for j := range k {
		s.center(s.words, faint, strconv.Itoa(j+1), margin+split+(j+1)*(side+gap), top-12, side)
	}
	for i, r := range rows {
		x, y := margin, top+i*(side+gap+caption)
		s.framed(Neighbor{Tile: r.Query}, true, x, y, side)
		for j, n := range r.Neighbors {
			s.framed(n, false, x+split+(j+1)*(side+gap), y, side)
		}
	}
	return s.save(path)
}

// framed draws a tile in the frame of a query, a right or a wrong neighbor.
func (s *sheet) framed(n Neighbor, query bool, x, y, side int) {
	box := image.Rect(x, y, x+side, y+side)
	s.tile(n.Image, box)
	c, caption := ink, n.Caption
	switch {
	case query:
		s.frame(box, 2, plain)
	case n.Correct:
		s.frame(box, 3, right)
	default: // also distinguished without color
		s.frame(box, 5, wrong)
		c = wrong
		if caption = "× " + caption; n.Caption == "" {
			caption = "×"
		}
	}
	s.center(s.small, c, caption, x-7, y+side+smallSize+6, side+14)
}
