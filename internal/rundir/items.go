package rundir

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"tercet/internal/fsx"
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
	for _, dir := range r.Of.pictureFolders(r.Dir) {
		out := &Items{Sprite: filepath.Join(dir, "items.png")}
		if _, err := os.Stat(out.Sprite); err != nil {
			continue // a result without pictures takes those of the one before along
		}
		path := filepath.Join(dir, "items.csv")
		f, _, err := fsx.OpenRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		defer f.Close()
		rows, err := csv.NewReader(io.LimitReader(f, maxItems)).ReadAll()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
		}
		for i, row := range rows {
			if i == 0 {
				continue
			}
			if len(row) != 5 {
				return nil, fmt.Errorf("%w: %s:%d: %d columns, want 5", ErrRun, path, i+1, len(row))
			}
			x, errX := strconv.ParseFloat(row[3], 64)
			y, errY := strconv.ParseFloat(row[4], 64)
			if err := errors.Join(errX, errY); err != nil || x-x != 0 || y-y != 0 {
				return nil, fmt.Errorf("%w: %s:%d: the place %s, %s is no pair of numbers", ErrRun, path, i+1, row[3], row[4])
			}
			out.Points = append(out.Points, render.MapPoint{X: x, Y: y, Class: row[1], Text: fmt.Sprintf("%s, cluster %s, item %s", row[1], row[2], row[0])})
		}
		return out, nil
	}
	return nil, nil
}
