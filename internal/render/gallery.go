package render

import (
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"os"
	"strconv"

	"tercet/internal/fsx"
)

// Gallery is a table of thumbnails. Their pictures are in the PNG Sprite, in the order of the
// rows.
type Gallery struct {
	Sprite string
	Rows   []GalleryRow
}

// GalleryRow is a row of thumbnails; those of one part stand together, parts in the order of
// the first row.
type GalleryRow struct {
	Name   string
	Thumbs []Thumb
}

// Thumb is a small picture with words below it.
type Thumb struct {
	Tile
	Part    string // heading of the column
	Verdict Verdict
}

// ThumbSide is the side of the thumbnails of sprites, in pixels.
const ThumbSide = 32

// RetrievalGallery has a row for each query.
func RetrievalGallery(rows []RetrievalRow) (out []GalleryRow) {
	for _, r := range rows {
		out = append(out, GalleryRow{Thumbs: append([]Thumb{{Tile: r.Query, Part: "query"}}, neighborThumbs("nearest images", r.Neighbors)...)})
	}
	return out
}

// AdversarialGallery has a row for each attacked image, with what AdversarialSheet shows.
func AdversarialGallery(rows []AdversarialRow) (out []GalleryRow) {
	gain := 1.0
	if largest := largestChange(rows); largest > 0 {
		gain = 0.5 / largest
	}
	for _, r := range rows {
		row := GalleryRow{Name: r.Heading, Thumbs: []Thumb{
			{Tile: r.Clean, Part: "clean"},
			{Tile: Tile{Image: change(r.Clean.Image, r.Adversarial.Image, gain)}, Part: fmt.Sprintf("change × %.3g", gain)},
			{Tile: r.Adversarial, Part: "adversarial"},
		}}
		if r.Target != nil {
			row.Thumbs = append(row.Thumbs, Thumb{Tile: *r.Target, Part: "aimed at"})
		}
		row.Thumbs = append(row.Thumbs, neighborThumbs("nearest to clean", r.Before)...)
		row.Thumbs = append(row.Thumbs, neighborThumbs("nearest to adversarial", r.After)...)
		out = append(out, row)
	}
	return out
}

// MosaicGallery has a row for each cluster, with what Mosaic shows.
func MosaicGallery(groups []MosaicGroup) (out []GalleryRow) {
	for _, g := range groups {
		row := GalleryRow{Name: g.Name + ": " + g.Note}
		for _, m := range g.Members {
			row.Thumbs = append(row.Thumbs, Thumb{m.Tile, "from the middle outwards", m.Verdict})
		}
		out = append(out, row)
	}
	return out
}

func neighborThumbs(part string, list []Neighbor) (out []Thumb) {
	for _, n := range list {
		verdict := Wrong
		if n.Correct {
			verdict = Right
		}
		out = append(out, Thumb{n.Tile, part, verdict})
	}
	return out
}

// verdictWords are those of a file.
var verdictWords = map[Verdict]string{NoTruth: "", Right: "right", Wrong: "wrong"}

// WriteGallery writes base.png, the sprite, and base.csv, what stands with each thumbnail.
func WriteGallery(base string, rows []GalleryRow) error {
	lines := [][]string{{"row", "name", "part", "text", "verdict"}}
	var images []Image
	for i, r := range rows {
		for _, t := range r.Thumbs {
			lines = append(lines, []string{strconv.Itoa(i), r.Name, t.Part, t.Caption, verdictWords[t.Verdict]})
			images = append(images, t.Image)
		}
	}
	return writeSprite(base, lines, images)
}

// writeSprite writes base.csv and, last, base.png.
func writeSprite(base string, lines [][]string, images []Image) error {
	if err := fsx.Write(base+".csv", 0o644, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(lines) }); err != nil {
		return err
	}
	return fsx.Write(base+".png", 0o644, func(w io.Writer) error { return Sprite(w, images, ThumbSide) })
}

// ParseGallery reads the lines of base.csv.
func ParseGallery(sprite string, lines [][]string) (*Gallery, error) {
	g := &Gallery{Sprite: sprite}
	for i, l := range lines {
		if i == 0 {
			continue
		}
		if len(l) != 5 {
			return nil, fmt.Errorf("line %d has %d columns, want 5", i+1, len(l))
		}
		row, err := strconv.Atoi(l[0])
		if err != nil || row != len(g.Rows) && row != len(g.Rows)-1 {
			return nil, fmt.Errorf("line %d: row %s does not follow", i+1, l[0])
		}
		if row == len(g.Rows) {
			g.Rows = append(g.Rows, GalleryRow{Name: l[1]})
		}
		t := Thumb{Tile: Tile{Caption: l[3]}, Part: l[2]}
		switch l[4] {
		case "right":
			t.Verdict = Right
		case "wrong":
			t.Verdict = Wrong
		}
		g.Rows[row].Thumbs = append(g.Rows[row].Thumbs, t)
	}
	return g, nil
}

// Bytes is about how long the gallery is on a page.
func (g *Gallery) Bytes() int {
	n := spriteBytes(g.Sprite)
	for _, r := range g.Rows {
		n += 150 * len(r.Thumbs)
	}
	return n
}

// spriteBytes is the length of a sprite's data URI; 0 where it cannot be read, which the page
// reports.
func spriteBytes(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return int(info.Size()) * 4 / 3
}

// Gallery adds a gallery; in Markdown it is the picture, if there is one.
func (p *Page) Gallery(title, picture string, g *Gallery) {
	p.blocks = append(p.blocks, block{text: title, picture: picture, gallery: g})
}

// htmlGallery is a table of thumbnails, or of counts with thumbnails at their heads.
type htmlGallery struct {
	ID, Title string
	Heads     []htmlThumb
	Rows      [][]htmlThumb
	Notes     []string
}

type htmlThumb struct {
	Text    string
	Head    bool
	Span    int
	Picture bool
	First   bool // of several columns of a part
	Style   template.CSS
	Verdict string // class and mark: right or wrong
}

// Mark tells right from wrong without color.
func (t htmlThumb) Mark() string {
	switch t.Verdict {
	case "right":
		return "\u2713 "
	case "wrong":
		return "\u2717 "
	}
	return ""
}

// begin gives a gallery its name, and the page's style its sprite: pictures of that many are
// shown at the side given.
func (h *htmlGallery) begin(style *string, sprite string, pictures, side int) error {
	uri, err := dataURI(sprite)
	if err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	*style += fmt.Sprintf("#%s i{width:%dpx;height:%[2]dpx;background-image:url(%s);background-size:%dpx auto}\n", h.ID, side, uri, side*spriteColumns(pictures))
	return nil
}

// place is where picture i of so many stands.
func place(i, pictures, side int) template.CSS {
	n := spriteColumns(pictures)
	return template.CSS(fmt.Sprintf("background-position:%dpx %dpx", -side*(i%n), -side*(i/n)))
}

// shownSide is the side of a gallery's thumbnails on a page.
const shownSide = 2 * ThumbSide

func (g *Gallery) html(id, title string, style *string) (*htmlGallery, error) {
	out := &htmlGallery{ID: id, Title: title}
	widths, parts, pictures, named := map[string]int{}, []string{}, 0, false
	for _, r := range g.Rows {
		own := map[string]int{}
		named = named || r.Name != ""
		for _, t := range r.Thumbs {
			if own[t.Part]++; widths[t.Part] == 0 {
				parts = append(parts, t.Part)
			}
			widths[t.Part] = max(widths[t.Part], own[t.Part])
			pictures++
		}
	}
	if err := out.begin(style, g.Sprite, pictures, shownSide); err != nil {
		return nil, err
	}
	if named {
		out.Heads = append(out.Heads, htmlThumb{Head: true, Span: 1})
	}
	for _, part := range parts {
		out.Heads = append(out.Heads, htmlThumb{Text: part, Head: true, Span: widths[part], First: widths[part] > 1})
	}
	at := 0
	for _, r := range g.Rows {
		var row []htmlThumb
		if named {
			row = append(row, htmlThumb{Text: r.Name, Head: true, Span: 1})
		}
		for _, part := range parts {
			filled := 0
			for i, t := range r.Thumbs {
				if t.Part == part {
					row = append(row, htmlThumb{Text: t.Caption, Span: 1, Picture: true, First: filled == 0 && widths[part] > 1, Style: place(at+i, pictures, shownSide), Verdict: verdictWords[t.Verdict]})
					filled++
				}
			}
			if rest := widths[part] - filled; rest > 0 {
				row = append(row, htmlThumb{Span: rest})
			}
		}
		at += len(r.Thumbs)
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
