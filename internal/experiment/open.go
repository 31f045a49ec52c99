package experiment

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/glyphs"
	"tercet/internal/engine/array"
)

func init() {
	data.Register(data.Source{
		Name:  "glyphs",
		About: "characters of the Go and Liberation fonts, drawn with seeded distortion; test characters are unseen ones",
		Needs: "no files",
		Open: func(o data.Options) (data.Dataset, data.Dataset, error) {
			p, ok := o.Params.(glyphs.Options)
			if !ok {
				p = glyphs.Options{Size: o.Size}
			}
			train, test, err := glyphs.Open(p)
			if err != nil {
				return nil, nil, err
			}
			if test == nil { // not a nil pointer in an interface
				return train, nil, nil
			}
			return train, test, nil
		},
	})
}

// OpenData opens the datasets of cfg: it reads, splits and limits them. What is
// wrong neither with files nor with their content is a value of the config, and
// comes back as a *config.Error.
func OpenData(cfg *config.Config) (*Sets, error) { return openWith(cfg, data.Open, nil) }

// opener reads a source: data.Open, or what shares its result among runs.
type opener func(data.Options) (train, test data.Dataset, err error)

// once keeps what an opener returns for all who read the same data, one after the other.
func once(open opener) opener {
	var mu sync.Mutex
	var last *data.Options
	var train, test data.Dataset
	var err error
	return func(o data.Options) (data.Dataset, data.Dataset, error) {
		mu.Lock()
		defer mu.Unlock()
		if last == nil || !reflect.DeepEqual(*last, o) {
			train, test, err = open(o)
			last = &o
		}
		return train, test, err
	}
}

// alteration changes the training images, held-out ones already apart: before they are
// distorted and their labels disturbed, so that those are as they would have been.
type alteration func(*Sets) error

// openWith is OpenData by way of open, altered where alter is not nil.
func openWith(cfg *config.Config, open opener, alter alteration) (*Sets, error) {
	s, err := openData(cfg, open, alter)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, data.ErrMissing):
		if here, e := os.Getwd(); e == nil {
			err = fmt.Errorf("%w (paths of a config count from the current directory, %s)", err, here)
		}
		return nil, err
	case errors.Is(err, data.ErrFormat), errors.Is(err, data.ErrUnfit):
		return nil, err
	case errors.Is(err, array.ErrShape):
		return nil, fmt.Errorf("%w: %w", data.ErrUnfit, err)
	}
	return nil, &config.Error{Key: "data", Msg: err.Error()}
}

func openData(cfg *config.Config, open opener, alter alteration) (*Sets, error) {
	o, err := dataOptions(cfg)
	if err != nil {
		return nil, err
	}
	s := &Sets{LeftOut: data.LeftOut(o)}
	if s.Train, s.Test, err = open(o); err != nil {
		return nil, err
	}
	if s.Train, s.Test, err = data.OfClasses(s.Train, s.Test, cfg.Data.Classes, cfg.Seed); err != nil {
		return nil, err
	}
	if err := s.holdOut(cfg.Data.Split.Validation, cfg.Data.Split.Seed); err != nil {
		return nil, err
	}
	if alter != nil {
		if err := alter(s); err != nil {
			return nil, err
		}
	}
	if d := cfg.Data.Distort; d.Strength > 0 {
		if s.Train, err = data.Distorted(s.Train, data.DistortOptions{Strength: d.Strength, Fresh: d.Fresh, Seed: d.Seed}); err != nil {
			return nil, err
		}
	}
	return s, s.disturb(cfg)
}

// dataOptions translates the config's data section.
func dataOptions(cfg *config.Config) (data.Options, error) {
	d := cfg.Data
	o := data.Options{Name: d.Name, Size: d.Size, Crop: d.Crop, SkipPerClass: d.SkipPerClass, LimitPerClass: d.LimitPerClass, Seed: d.Split.Seed}
	if d.Size != 0 {
		o.Fit = d.Fit
	}
	if d.Color != "native" {
		o.Color = d.Color
	}
	switch s := d.Split.Options.(type) {
	case config.FileSplit:
	case config.ClassSplit:
		o.Split = data.Split{Kind: "class", Train: s.Train, Seed: d.Split.Seed}
	case config.FractionSplit:
		o.Split = data.Split{Kind: "fraction", Train: s.Train, Seed: d.Split.Seed}
	default:
		return o, fmt.Errorf("split %s: no wiring for options %T", d.Split.Kind, s)
	}
	switch p := d.Options.(type) {
	case config.GlyphsData:
		if d.Crop != 0 {
			return o, errors.New("crop: characters are drawn at data.size; there is nothing to crop")
		}
		g, err := glyphsOptions(cfg, p.Glyphs)
		if err != nil {
			return o, err
		}
		o.Params = g
	case config.MNISTData:
		o.Root = p.Root
	case config.CIFAR10Data:
		o.Root = p.Root
	case config.FolderData:
		o.Root, o.TrainFolder, o.TestFolder = p.Root, p.Train, p.Test
	case config.IDXData:
		o.Root, o.Images, o.Labels, o.TestImages, o.TestLabels = p.Root, p.Train.Images, p.Train.Labels, p.Test.Images, p.Test.Labels
	case config.NPYData:
		o.Root, o.Images, o.Labels, o.TestImages, o.TestLabels = p.Root, p.Train.Vectors, p.Train.Labels, p.Test.Vectors, p.Test.Labels
	default:
		return o, fmt.Errorf("data %s: no wiring for options %T", d.Name, p)
	}
	return o, nil
}

// glyphsOptions translates the glyphs section: each knob that is not set follows
// the difficulty.
func glyphsOptions(cfg *config.Config, g config.Glyphs) (glyphs.Options, error) {
	l := glyphs.EachAt(g.Difficulty)
	for _, k := range []struct {
		set *float64
		to  *float64
	}{{g.Affine, &l.Affine}, {g.Elastic, &l.Elastic}, {g.Stroke, &l.Stroke}, {g.Blur, &l.Blur}, {g.Clutter, &l.Clutter}, {g.Noise, &l.Noise}} {
		if k.set != nil {
			*k.to = *k.set
		}
	}
	knobs, err := l.Knobs()
	if err != nil {
		return glyphs.Options{}, err
	}
	return glyphs.Options{
		TrainClasses: g.Classes, TestClasses: g.TestClasses, TrainPerClass: g.PerClass, TestPerClass: g.PerClass,
		Size: cfg.Data.Size, Color: cfg.Data.Color == "rgb", Difficulty: "custom", Knobs: &knobs, Seed: g.Seed,
	}, nil
}

// augment builds the random changes of training images; nil for none.
func augment(cfg *config.Config, ds data.Dataset) (data.Transform, error) {
	a := data.Augment{Pad: cfg.Data.Augment.CropPadding}
	if cfg.Data.Augment.Flip {
		a.Flip = 0.5
	}
	if _, ok := cfg.Data.Options.(config.NPYData); ok && (a.Pad > 0 || a.Flip > 0) {
		return nil, fmt.Errorf("%w: data.augment changes images; npy holds vectors", data.ErrUnfit)
	}
	return a.Transform()
}
