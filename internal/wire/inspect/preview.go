package inspect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rng"
	"tercet/internal/wire"
)

// PreviewOptions say what a contact sheet shows.
type PreviewOptions struct {
	Set      string // train, validation or test
	Classes  int    // rows, evenly spread over the classes
	PerClass int    // images in a row, evenly spread over the class
	Augment  bool   // as training may see them; Set must be train
}

// DrawPreview writes a PNG with a row for each of some classes.
func DrawPreview(ctx context.Context, cfg *config.Config, path string, o PreviewOptions) (*printed.Preview, error) {
	if o.Classes < 1 || o.PerClass < 1 {
		return nil, fmt.Errorf("a sheet of %d classes and %d images each shows nothing", o.Classes, o.PerClass)
	}
	if cfg.Data.Options.Traits().Vectors {
		return nil, fmt.Errorf("%w: %s holds vectors; only images can be drawn", data.ErrUnfit, cfg.Data.Name)
	}
	sets, err := wire.OpenData(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ds, err := sets.Pick(o.Set)
	if err != nil {
		return nil, err
	}
	for _, split := range []string{"train", "validation", "test"} {
		if set, err := sets.Pick(split); err == nil { // there may be no validation set
			if err := notAnImage(path, set); err != nil {
				return nil, err
			}
		}
	}
	if _, _, c := ds.Shape(); c != 1 && c != 3 {
		return nil, fmt.Errorf("%w: images of %d channels; 1 and 3 can be drawn", data.ErrUnfit, c)
	}
	see, err := augmenter(cfg, ds, o)
	if err != nil {
		return nil, err
	}
	d := &printed.Preview{Schema: record.PreviewSchema, Path: path, Config: cfg.Name, Name: cfg.Data.Name, Set: o.Set, Augmented: o.Augment}
	all := data.Compact(ds)
	members := make([][]int32, len(all.Classes()))
	for i, y := range all.Labels() {
		members[y] = append(members[y], int32(i))
	}
	cols := 0
	for _, k := range evenly(len(members), o.Classes) {
		row := printed.PreviewClass{Class: all.Classes()[k], Items: len(members[k])}
		for _, p := range evenly(len(members[k]), o.PerClass) {
			row.Shown = append(row.Shown, members[k][p])
		}
		cols = max(cols, len(row.Shown))
		d.Rows = append(d.Rows, row)
	}
	var tiles []render.Tile
	for _, row := range d.Rows {
		for _, i := range row.Shown {
			t, err := embed.Tile(ds, int(i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", data.ItemName(ds, int(i)), err)
			}
			t.Caption = shorten(t.Caption)
			if t, err = see(t, int(i)); err != nil {
				return nil, fmt.Errorf("%s: %w", data.ItemName(ds, int(i)), err)
			}
			tiles = append(tiles, t)
		}
		for range cols - len(row.Shown) {
			tiles = append(tiles, blank(ds))
		}
	}
	what := o.Set
	if o.Augment {
		what += ", augmented"
	}
	title := fmt.Sprintf("%s: %d of %d classes (%s)", cfg.Name, len(d.Rows), len(members), what)
	return d, render.ContactSheet(path, title, tiles, cols)
}

// augmenter returns what makes of item i's tile what training may see.
func augmenter(cfg *config.Config, ds data.Dataset, o PreviewOptions) (func(t render.Tile, i int) (render.Tile, error), error) {
	if !o.Augment {
		return func(t render.Tile, _ int) (render.Tile, error) { return t, nil }, nil
	}
	if o.Set != "train" {
		return nil, fmt.Errorf("only training images are augmented, not those of set %s", o.Set)
	}
	if cfg.Data.Transform.Given() {
		if len(cfg.Data.Transform.Train) == 0 {
			return nil, &config.Error{Key: "data.transform.train", Msg: "is empty: training images take the steps of data.transform.test, which a sheet without augmentation shows"}
		}
		return func(t render.Tile, i int) (render.Tile, error) {
			return t, data.ReadAnew(ds, i, t.Image.Pix, data.Draw{Seed: cfg.Seed, Row: i})
		}, nil
	}
	tf, err := wire.Augment(cfg, ds)
	if err != nil {
		return nil, err
	}
	if tf == nil {
		return nil, &config.Error{Key: "data.augment", Msg: "is off; set data.augment.flip or data.augment.crop_padding to see what it does"}
	}
	h, w, c := ds.Shape()
	oh, ow, err := tf.Out(h, w)
	if err != nil {
		return nil, &config.Error{Key: "data.augment", Msg: err.Error()}
	}
	scratch := make([]float32, h*w*c)
	return func(t render.Tile, i int) (render.Tile, error) {
		tf.Apply(t.Image.Pix, scratch, h, w, c, rng.New(cfg.Seed, "preview", uint64(i)))
		t.Image = render.Image{Pix: t.Image.Pix[:oh*ow*c], H: oh, W: ow, C: c}
		return t, nil
	}, nil
}

// shorten leaves out the middle of a name that is wider than a tile: names of
// one folder often differ at their end.
func shorten(name string) string {
	const head, tail = 4, 5
	r := []rune(name)
	if len(r) <= head+1+tail {
		return name
	}
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// blank is a place of the sheet left white.
func blank(ds data.Dataset) render.Tile {
	h, w, c := ds.Shape()
	pix := make([]float32, h*w*c)
	for i := range pix {
		pix[i] = 1
	}
	return render.Tile{Image: render.Image{Pix: pix, H: h, W: w, C: c}}
}

// evenly returns k of the numbers 0 to n-1, or all of them, evenly spread and
// rising.
func evenly(n, k int) []int {
	k = min(n, k)
	out := make([]int, k)
	for i := range out {
		out[i] = i * n / k
	}
	return out
}

// notAnImage refuses to draw over an image of the data.
func notAnImage(path string, ds data.Dataset) error {
	at, err := os.Stat(path)
	names, named := ds.(data.Namer)
	if err != nil || !named {
		return nil
	}
	for i := range ds.Len() {
		name := names.ItemName(i)
		if filepath.Base(name) != filepath.Base(path) {
			continue
		}
		if image, err := os.Stat(name); err == nil && os.SameFile(at, image) {
			return option.Errorf("%s is an image of the data; give another path", path)
		}
	}
	return nil
}
