package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/fsx"
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

// WriteMarkdown writes the page to path, pictures by their path relative to it.
func (p *Page) WriteMarkdown(path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", escape(p.Title))
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, k := range p.blocks {
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

const style = `body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:84rem;margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.2}table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding-bottom:.3rem}th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:left}
th{border-bottom:2px solid #888}p,figure,pre{max-width:60rem}table{min-width:28rem}.n{text-align:right;white-space:nowrap}figure{margin:1.5rem 0}img{max-width:100%;height:auto}
figcaption,.note{color:#555;font-size:.9rem}pre{background:#f5f5f5;padding:.7rem;overflow-x:auto}div.t{overflow-x:auto}`

// WriteHTML writes the page to path as one file: pictures inlined, plain CSS,
// no scripts, nothing from the network.
func (p *Page) WriteHTML(path string) error {
	var b bytes.Buffer
	title := html.EscapeString(p.Title)
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<h1>%s</h1>\n", title, style, title)
	for _, k := range p.blocks {
		s := html.EscapeString(k.text)
		switch {
		case k.heading > 0:
			fmt.Fprintf(&b, "<h%d>%s</h%d>\n", k.heading, s, k.heading)
		case k.table != nil:
			if err := k.table.check(); err != nil {
				return fmt.Errorf("report %s: %w", path, err)
			}
			k.table.html(&b)
		case k.picture != "":
			uri, err := dataURI(k.picture)
			if err != nil {
				return fmt.Errorf("report %s: picture: %w", path, err)
			}
			fmt.Fprintf(&b, "<figure><img src=\"%s\" alt=\"%s\"><figcaption>%s</figcaption></figure>\n", uri, s, s)
		case k.code:
			fmt.Fprintf(&b, "<pre>%s</pre>\n", s)
		default:
			fmt.Fprintf(&b, "<p>%s</p>\n", s)
		}
	}
	b.WriteString("</body>\n</html>\n")
	return fsx.WriteFile(path, b.Bytes(), 0o644)
}

func dataURI(path string) (string, error) {
	data, err := fsx.ReadFile(path, maxPicture)
	if err != nil {
		return "", err
	}
	kind := http.DetectContentType(data)
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		kind = "image/svg+xml"
	}
	if !strings.HasPrefix(kind, "image/") {
		return "", fmt.Errorf("%s is not a picture but %s", path, kind)
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

func (t *Table) html(b *bytes.Buffer) {
	b.WriteString("<div class=\"t\"><table>\n")
	if t.Title != "" {
		fmt.Fprintf(b, "<caption>%s</caption>\n", html.EscapeString(t.Title))
	}
	classes := make([]string, len(t.Columns))
	b.WriteString("<thead><tr>")
	for i, c := range t.Columns {
		if c.numeric(t.Rows, i) {
			classes[i] = " class=\"n\""
		}
		fmt.Fprintf(b, "<th%s>%s</th>", classes[i], html.EscapeString(c.header()))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range t.Rows {
		b.WriteString("<tr>")
		for i, x := range r {
			fmt.Fprintf(b, "<td%s>%s</td>", classes[i], html.EscapeString(t.Columns[i].Show(x)))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n")
	for _, n := range t.Notes {
		fmt.Fprintf(b, "<p class=\"note\">%s</p>\n", html.EscapeString(n))
	}
}
