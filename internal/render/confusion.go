package render

import (
	"fmt"
	"html/template"
	"strconv"
)

// Confusion counts items by class, the rows, and cluster, the columns, with a picture of each:
// Sprite has those of the columns, then those of the rows.
type Confusion struct {
	Sprite     string
	Rows, Cols []string
	Counts     [][]int
	Notes      []string
}

// WriteConfusion writes base.png, the sprite, and base.csv, the counts. images are in the
// order of the sprite.
func WriteConfusion(base string, c Confusion, images []Image) error {
	lines := [][]string{append([]string{"class"}, c.Cols...)}
	for i, name := range c.Rows {
		line := []string{name}
		for _, n := range c.Counts[i] {
			line = append(line, strconv.Itoa(n))
		}
		lines = append(lines, line)
	}
	return writeSprite(base, lines, images)
}

// ParseConfusion reads the lines of base.csv.
func ParseConfusion(sprite string, lines [][]string) (*Confusion, error) {
	if len(lines) < 2 || len(lines[0]) < 2 {
		return nil, fmt.Errorf("there are no classes and clusters")
	}
	c := &Confusion{Sprite: sprite, Cols: lines[0][1:]}
	for i, l := range lines[1:] {
		var counts []int
		for _, text := range l[1:] {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("line %d: %s is not a count", i+2, text)
			}
			counts = append(counts, n)
		}
		c.Rows, c.Counts = append(c.Rows, l[0]), append(c.Counts, counts)
	}
	return c, nil
}

// Bytes is about how long the table is on a page.
func (c *Confusion) Bytes() int {
	return spriteBytes(c.Sprite) + (len(c.Rows)+1)*(len(c.Cols)+1)*60
}

// Confusion adds the table; in Markdown it is the picture, if there is one.
func (p *Page) Confusion(title, picture string, c *Confusion) {
	p.blocks = append(p.blocks, block{text: title, picture: picture, confusion: c})
}

func (c *Confusion) html(id, title string, style *string) (*htmlGallery, error) {
	out := &htmlGallery{ID: id, Title: title, Notes: c.Notes}
	pictures, most := len(c.Cols)+len(c.Rows), 1
	if err := out.begin(style, c.Sprite, pictures, ThumbSide); err != nil {
		return nil, err
	}
	for _, row := range c.Counts {
		for _, n := range row {
			most = max(most, n)
		}
	}
	out.Heads = append(out.Heads, htmlThumb{Text: "class", Head: true, Span: 1})
	for i, name := range c.Cols {
		out.Heads = append(out.Heads, htmlThumb{Text: name, Head: true, Span: 1, Picture: true, Style: place(i, pictures, ThumbSide)})
	}
	for i, name := range c.Rows {
		row := []htmlThumb{{Text: name, Head: true, Span: 1, Picture: true, Style: place(len(c.Cols)+i, pictures, ThumbSide)}}
		for _, n := range c.Counts[i] {
			cell := htmlThumb{Span: 1}
			if n > 0 {
				cell.Text = strconv.Itoa(n)
				cell.Style = template.CSS(fmt.Sprintf("background:rgba(0,114,178,%.2f)", 0.1+0.5*float64(n)/float64(most)))
			}
			row = append(row, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
