package rundir

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tercet/internal/fsx"
	"tercet/internal/render"
)

// ReadGallery reads the thumbnails that eval ("retrieval") or attack has left for pages; nil
// where there are none, or the result itself was left out. Errors wrap ErrRun and name the file.
func (r *Run) ReadGallery(what string) (*render.Gallery, error) {
	if r.hides(what + ".png") {
		return nil, nil
	}
	return besideSprite(r, what+"-gallery", render.ParseGallery)
}

// ReadConfusion reads the counts of classes and clusters that cluster has left for pages, as
// ReadGallery.
func (r *Run) ReadConfusion() (*render.Confusion, error) {
	if r.Cluster == nil {
		return nil, nil
	}
	return besideSprite(r, "confusion", render.ParseConfusion)
}

// besideSprite parses NAME.csv of the first folder of pictures that has it and NAME.png.
func besideSprite[T any](r *Run, name string, parse func(sprite string, lines [][]string) (*T, error)) (*T, error) {
	for _, dir := range r.Of.pictureFolders(r.Dir) {
		sprite, path := filepath.Join(dir, name+".png"), filepath.Join(dir, name+".csv")
		if _, err := os.Stat(sprite); err != nil {
			continue // a result without pictures takes those of the one before along
		}
		f, _, err := fsx.OpenRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRun, err)
		}
		defer f.Close()
		lines, err := csv.NewReader(io.LimitReader(f, maxItems)).ReadAll()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
		}
		out, err := parse(sprite, lines)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
		}
		return out, nil
	}
	return nil, nil
}
