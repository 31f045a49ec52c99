package render

import (
	"fmt"
	"html/template"
	"slices"

	"tercet/internal/lists"
)

// MapPoint is an image on a map.
type MapPoint struct {
	X, Y  float64
	Class string // colors it
	Text  string // says what it is
}

// itemMap is a map of a page.
type itemMap struct {
	sprite string
	points []MapPoint
}

// Map adds a map of images, which are in the PNG sprite in the order of the points, as Sprite
// writes it. Maps are in HTML alone; the mouse or the arrow keys show the images.
func (p *Page) Map(title, sprite string, points []MapPoint) {
	p.blocks = append(p.blocks, block{text: title, items: &itemMap{sprite, points}})
}

// Sizes of a map in the units of its picture.
const (
	mapWidth, mapHeight = 900, 600
	mapMargin           = 12
)

type htmlMap struct {
	ID, Label string
	Sprite    template.HTMLAttr
	Points    []htmlPoint
	Classes   []htmlClass
	More      int // classes without a line of the legend
}

type htmlPoint struct {
	X, Y, Text string
	Color      int // of the palette
}

type htmlClass struct {
	Name  string
	Color int
}

// legendClasses is how many classes have a line of the legend: more have the same colors.
const legendClasses = 10

func (m *itemMap) html(title string, data *pageData) (*htmlMap, error) {
	uri, err := dataURI(m.sprite)
	if err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	out := &htmlMap{ID: fmt.Sprintf("map-%d", len(data.Maps)+1), Sprite: template.HTMLAttr(`src="` + uri + `"`), Label: fmt.Sprintf("%s, %d images; left and right arrows go from image to image", title, len(m.points))}
	data.Maps = append(data.Maps, mapData{out.ID, spriteColumns(len(m.points))})
	var classes []string
	lowX, highX, lowY, highY := m.points[0].X, m.points[0].X, m.points[0].Y, m.points[0].Y
	for _, p := range m.points {
		lowX, highX, lowY, highY = min(lowX, p.X), max(highX, p.X), min(lowY, p.Y), max(highY, p.Y)
		classes = lists.AppendNew(classes, p.Class)
	}
	slices.Sort(classes)
	color := func(class string) int {
		i, _ := slices.BinarySearch(classes, class)
		return i % len(Palette)
	}
	place := func(v, low, high, size float64) float64 {
		if high == low {
			return size / 2
		}
		return mapMargin + (size-2*mapMargin)*(v-low)/(high-low)
	}
	for _, p := range m.points {
		out.Points = append(out.Points, htmlPoint{
			X: fmt.Sprintf("%.1f", place(p.X, lowX, highX, mapWidth)), Y: fmt.Sprintf("%.1f", mapHeight-place(p.Y, lowY, highY, mapHeight)), Color: color(p.Class), Text: p.Text,
		})
	}
	for _, c := range classes[:min(len(classes), legendClasses)] {
		out.Classes = append(out.Classes, htmlClass{c, color(c)})
	}
	out.More = len(classes) - len(out.Classes)
	return out, nil
}

// onDark is a color of the palette, lightened for a dark page.
func onDark(i int) string {
	c := Palette[i%len(Palette)]
	light := func(v uint8) uint8 { return uint8((3*int(v) + 2*255) / 5) }
	return fmt.Sprintf("#%02x%02x%02x", light(c.R), light(c.G), light(c.B))
}

// hex is a color of the palette in HTML.
func hex(i int) string {
	c := Palette[i%len(Palette)]
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}
