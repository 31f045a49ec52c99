package render

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/fsx"
	imagekind "tercet/internal/imaging/kind"
)

// maxPicture bounds a picture that a page takes in.
const maxPicture = 256 << 20

// Page is a report of headings, words, tables and pictures, written as Markdown
// that names the pictures' files, or as one HTML file that holds them.
type Page struct {
	Title  string
	blocks []block
}

type block struct {
	heading int // 2 and deeper
	text    string
	code    bool
	table   *Table
	picture string
	folded  bool // a picture that is opened by a click
	curves  *curves
	items   *itemMap

	gallery   *Gallery
	confusion *Confusion
}

// Heading begins a section; level 2 is the highest below the title.
func (p *Page) Heading(level int, s string) {
	p.blocks = append(p.blocks, block{heading: min(max(level, 2), 6), text: s})
}

// Paragraph adds words, taken literally: markup in them is escaped.
func (p *Page) Paragraph(s string) { p.blocks = append(p.blocks, block{text: s}) }

// Code adds lines shown as they are, such as a command or a config.
func (p *Page) Code(s string) { p.blocks = append(p.blocks, block{text: s, code: true}) }

// Table adds a table.
func (p *Page) Table(t *Table) { p.blocks = append(p.blocks, block{table: t}) }

// Picture adds a PNG or SVG file with a caption.
func (p *Page) Picture(path, caption string) {
	p.blocks = append(p.blocks, block{picture: path, text: caption})
}

// Folded adds a PNG or SVG file that HTML shows when its caption is chosen.
func (p *Page) Folded(path, caption string) {
	p.blocks = append(p.blocks, block{picture: path, text: caption, folded: true})
}

// Curves adds a section of lines against a common axis, a chart for each panel, with their last
// values as a table. It is in HTML alone.
func (p *Page) Curves(title, xLabel string, panels []Panel) {
	p.blocks = append(p.blocks, block{text: title, curves: &curves{xLabel, panels}})
}

// WriteMarkdown writes the page to path, pictures by their path relative to it.
func (p *Page) WriteMarkdown(path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", escape(p.Title))
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, k := range p.blocks {
		if k.curves != nil || k.items != nil || (k.gallery != nil || k.confusion != nil) && k.picture == "" {
			continue
		}
		b.WriteByte('\n')
		switch {
		case k.heading > 0:
			fmt.Fprintf(&b, "%s %s\n", strings.Repeat("#", k.heading), escape(k.text))
		case k.table != nil:
			if err := k.table.check(); err != nil {
				return fmt.Errorf("report %s: %w", path, err)
			}
			b.WriteString(k.table.pretty(true))
		case k.picture != "":
			abs, err := filepath.Abs(k.picture)
			if err != nil {
				return err
			}
			if _, err := os.Stat(abs); err != nil {
				return fmt.Errorf("report %s: picture: %w", path, err)
			}
			rel, err := filepath.Rel(dir, abs)
			if err != nil {
				return fmt.Errorf("report %s: picture %s: %w", path, k.picture, err)
			}
			caption := strings.NewReplacer("[", "\\[", "]", "\\]").Replace(escape(k.text))
			fmt.Fprintf(&b, "![%s](<%s>)\n\n%s\n", caption, filepath.ToSlash(rel), escape(k.text))
		case k.code:
			fence := "```"
			for strings.Contains(k.text, fence) {
				fence += "`"
			}
			fmt.Fprintf(&b, "%s\n%s\n%s\n", fence, strings.TrimRight(k.text, "\n"), fence)
		default:
			b.WriteString(escape(k.text) + "\n")
		}
	}
	return fsx.WriteFile(path, []byte(b.String()), 0o644)
}

// smaller is the path of a drawing with the same content as the picture, where there is one
// that takes fewer bytes: plots are also written as SVG.
func smaller(picture string) string {
	drawing := strings.TrimSuffix(picture, ".png") + ".svg"
	a, err := os.Stat(picture)
	if err != nil || drawing == picture+".svg" {
		return picture
	}
	if b, err := os.Stat(drawing); err != nil || !b.Mode().IsRegular() || b.Size() >= a.Size() {
		return picture
	}
	return drawing
}

func dataURI(path string) (string, error) {
	data, err := fsx.ReadFile(path, maxPicture)
	if err != nil {
		return "", err
	}
	mime := imagekind.Of(data)
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		mime = "image/svg+xml"
	}
	if mime == "" {
		return "", fmt.Errorf("%s is not a picture", path)
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
