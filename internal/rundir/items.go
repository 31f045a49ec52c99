package rundir

import (
	"errors"
	"fmt"
	"strconv"

	"tercet/internal/render"
)

// Items are the images of a clustering on a map of two dimensions.
type Items struct {
	Sprite string // PNG of the images
	Points []render.MapPoint
}

// maxItems bounds a file of items.
const maxItems = 1 << 20

// ReadItems reads what tercet cluster has left for a page's map; nil where there is none, or
// the clustering itself was left out. Errors wrap ErrRun and name the file.
func (r *Run) ReadItems() (*Items, error) {
	if r.Cluster == nil {
		return nil, nil
	}
	return besideSprite(r, "items", parseItems)
}

// parseItems reads the lines of items.csv.
func parseItems(sprite string, rows [][]string) (*Items, error) {
	out := &Items{Sprite: sprite}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		if len(row) != 5 {
			return nil, fmt.Errorf("line %d: %d columns, want 5", i+1, len(row))
		}
		x, errX := strconv.ParseFloat(row[3], 64)
		y, errY := strconv.ParseFloat(row[4], 64)
		if err := errors.Join(errX, errY); err != nil || x-x != 0 || y-y != 0 {
			return nil, fmt.Errorf("line %d: the place %s, %s is not a pair of numbers", i+1, row[3], row[4])
		}
		out.Points = append(out.Points, render.MapPoint{X: x, Y: y, Class: row[1], Text: fmt.Sprintf("%s, cluster %s, item %s", row[1], row[2], row[0])})
	}
	return out, nil
}
