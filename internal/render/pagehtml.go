package render

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"tercet/internal/fsx"
)

// pageFiles are the parts of pages: the template, what draws and sorts, and uPlot 1.6.32 with
// its license (MIT, github.com/leeoniya/uPlot), unchanged.
//
//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.tmpl"))

// part is the text of a file of pageFiles.
func part(name string) string {
	b, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic("render: " + err.Error()) // it is embedded
	}
	return string(b)
}

// curves are the charts of a page.
type curves struct {
	x      string
	panels []Panel
}

// htmlPage is what the template shows.
type htmlPage struct {
	Title, Hashes string
	Connect       string // of the policy
	Style         template.CSS
	Data          template.JS
	Scripts       []template.JS
	Blocks        []htmlBlock
}

type htmlBlock struct {
	Heading     int
	Open, Close template.HTML
	Text        string
	Code        bool
	Table       *htmlTable
	Picture     template.HTMLAttr
	Folded      bool
	Charts      []htmlChart
	Map         *htmlMap
	Gallery     *htmlGallery
}

type htmlTable struct {
	Title string
	Heads []htmlCell
	Rows  [][]htmlCell
	Notes []string
}

type htmlCell struct {
	Text    string
	Numeric bool
}

type htmlChart struct{ ID, Title, Label string }

// pageData is what the script of a page reads.
type pageData struct {
	Colors []string    `json:"colors"`
	Dark   []string    `json:"dark"` // the same on a dark page
	Charts []chartData `json:"charts"`
	Maps   []mapData   `json:"maps,omitempty"`
	Live   bool        `json:"live,omitempty"`
	Stamp  string      `json:"stamp,omitempty"`
}

type mapData struct {
	ID      string `json:"id"`
	Columns int    `json:"columns"` // of the sprite
}

type chartData struct {
	ID    string     `json:"id"`
	X     string     `json:"x"`
	Lines []lineData `json:"lines"`
}

type lineData struct {
	Name string   `json:"name"`
	X    []float5 `json:"x"`
	Y    []float5 `json:"y"`
}

// float5 is a number with five digits in JSON: a picture shows no more.
type float5 float64

// MarshalJSON implements json.Marshaler. What is not finite is null, a gap.
func (f float5) MarshalJSON() ([]byte, error) {
	if !finite(float64(f)) {
		return []byte("null"), nil
	}
	if v := float64(f); v == float64(int64(v)) {
		return strconv.AppendInt(nil, int64(v), 10), nil // steps in full
	}
	return strconv.AppendFloat(nil, float64(f), 'g', 5, 64), nil
}

// WriteHTML writes the page to path as one file: pictures, styles and scripts inside, and a
// content security policy that keeps it from the network. Tables and pictures show without
// scripts; with them, tables can be sorted and filtered, and curves zoomed.
func (p *Page) WriteHTML(path string) error {
	text, err := p.html()
	if err != nil {
		return fmt.Errorf("report %s: %w", path, err)
	}
	return fsx.WriteFile(path, text, 0o644)
}

// Live is the page as a server shows it, which may ask that server for more, and what its
// script draws, as JSON: the server sends it again as an event of "events" when it changes.
func (p *Page) Live() (page, data []byte, err error) { return p.make(true) }

func (p *Page) html() ([]byte, error) {
	page, _, err := p.make(false)
	return page, err
}

func (p *Page) make(live bool) (page, list []byte, err error) {
	out := htmlPage{Title: p.Title}
	data := pageData{Charts: []chartData{}, Live: live}
	if live {
		out.Connect = " connect-src 'self';"
	}
	style, galleries := part("page.css"), 0
	for i := range Palette {
		data.Colors, data.Dark = append(data.Colors, hex(i)), append(data.Dark, onDark(i))
		style += fmt.Sprintf(".c%d{color:%s;fill:%[2]s}@media (prefers-color-scheme:dark){.c%[1]d{color:%[3]s;fill:%[3]s}}\n", i, hex(i), onDark(i))
	}
	for _, k := range p.blocks {
		b := htmlBlock{Heading: k.heading, Text: k.text, Code: k.code, Folded: k.folded}
		switch {
		case k.heading > 0:
			b = htmlHeading(k.heading, k.text)
		case k.table != nil:
			if err := k.table.check(); err != nil {
				return nil, nil, err
			}
			b.Table = k.table.html()
		case k.gallery != nil, k.confusion != nil:
			galleries++
			var err error
			if id := fmt.Sprintf("gallery-%d", galleries); k.gallery != nil {
				b.Gallery, err = k.gallery.html(id, k.text, &style)
			} else {
				b.Gallery, err = k.confusion.html(id, k.text, &style)
			}
			if err != nil {
				return nil, nil, err
			}
		case k.picture != "":
			uri, err := dataURI(smaller(k.picture))
			if err != nil {
				return nil, nil, fmt.Errorf("picture: %w", err)
			}
			b.Picture = template.HTMLAttr(`src="` + uri + `"`) // base64 alone
		case k.items != nil:
			m, err := k.items.html(k.text, &data)
			if err != nil {
				return nil, nil, err
			}
			b.Map = m
		case k.curves != nil:
			b.Charts = k.curves.charts(&data)
			out.Blocks = append(out.Blocks, htmlHeading(2, k.text), b)
			b = htmlBlock{Table: k.curves.last().html()}
		}
		out.Blocks = append(out.Blocks, b)
	}
	scripts := []string{part("page.js")}
	if len(data.Charts) > 0 {
		style, scripts = style+part("uplot.css"), []string{"/*!\n" + part("uplot-LICENSE.txt") + "*/\n" + part("uplot.js"), scripts[0]}
	}
	if live { // what the tables say: when it changes, the page is loaded again
		sum := sha256.Sum256([]byte(p.stated()))
		data.Stamp = base64.StdEncoding.EncodeToString(sum[:6])
	}
	if list, err = json.Marshal(data); err != nil {
		return nil, nil, err
	}
	out.Style, out.Data = template.CSS(style), template.JS(list)
	var hashes []string
	for _, s := range scripts {
		out.Scripts = append(out.Scripts, template.JS(s))
		sum := sha256.Sum256([]byte(s))
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	out.Hashes = strings.Join(hashes, " ")
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, out)
	return b.Bytes(), list, err
}

// stated is the headings of the page and its first table.
func (p *Page) stated() string {
	var b strings.Builder
	table := false
	for _, k := range p.blocks {
		if k.heading > 0 {
			b.WriteString(k.text + "\n")
		}
		if k.table != nil && !table {
			table = true
			b.WriteString(k.table.pretty(true))
		}
	}
	return b.String()
}

func htmlHeading(level int, text string) htmlBlock {
	tag := strconv.Itoa(level)
	return htmlBlock{Heading: level, Text: text, Open: template.HTML("<h" + tag + ">"), Close: template.HTML("</h" + tag + ">")}
}

// charts adds the panels to what the script reads.
func (c *curves) charts(data *pageData) (out []htmlChart) {
	for _, p := range c.panels {
		chart := chartData{ID: fmt.Sprintf("chart-%d", len(data.Charts)+1), X: c.x, Lines: []lineData{}}
		for _, l := range p.Lines {
			line := lineData{Name: l.Name}
			for i := range l.X {
				line.X, line.Y = append(line.X, float5(l.X[i])), append(line.Y, float5(l.Y[i]))
			}
			chart.Lines = append(chart.Lines, line)
		}
		data.Charts = append(data.Charts, chart)
		label := fmt.Sprintf("Chart of %s against the %s, %d lines; plus and minus zoom, arrows move, Escape shows all", p.YLabel, c.x, len(p.Lines))
		out = append(out, htmlChart{chart.ID, p.YLabel, label})
	}
	return out
}

// last is the table of the lines' last values: what is there to read without scripts.
func (c *curves) last() *Table {
	t := &Table{Title: "Last values", Columns: []Column{{Name: "run"}}}
	at := map[string]int{}
	for _, p := range c.panels {
		t.Columns = append(t.Columns, Column{Name: p.YLabel, Digits: 4})
	}
	for i, p := range c.panels {
		for _, l := range p.Lines {
			n, known := at[l.Name]
			if !known {
				n = len(t.Rows)
				at[l.Name] = n
				row := []Cell{Text(l.Name)}
				for range c.panels {
					row = append(row, Missing())
				}
				t.Rows = append(t.Rows, row)
			}
			if len(l.Y) > 0 {
				t.Rows[n][i+1] = Number(l.Y[len(l.Y)-1])
			}
		}
	}
	return t
}

func (t *Table) html() *htmlTable {
	out := &htmlTable{Title: t.Title, Notes: t.Notes}
	numeric := make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		numeric[i] = c.numeric(t.Rows, i)
		out.Heads = append(out.Heads, htmlCell{c.header(), numeric[i]})
	}
	for _, r := range t.Rows {
		var row []htmlCell
		for i, x := range r {
			row = append(row, htmlCell{t.Columns[i].Show(x), numeric[i]})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
