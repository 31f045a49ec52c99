package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/array"
)

// OpenData opens the datasets of cfg: it reads, splits and limits them. What is
// wrong neither with files nor with their content is a value of the config, and
// comes back as a *config.Error. The error is that of ctx if it ended.
func OpenData(ctx context.Context, cfg *config.Config) (*Sets, error) {
	return OpenWith(ctx, cfg, data.Open, nil)
}

// Opener reads a source: data.Open, or what shares its result among runs.
type Opener func(context.Context, data.Options) (train, test data.Dataset, err error)

// Once keeps what an opener returns for all who read the same data, one after the other.
func Once(open Opener) Opener {
	var mu sync.Mutex
	var last *data.Options
	var train, test data.Dataset
	var err error
	return func(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
		mu.Lock()
		defer mu.Unlock()
		if last == nil || !reflect.DeepEqual(*last, o) {
			train, test, err = open(ctx, o)
			last = &o
		}
		return train, test, err
	}
}

// Alteration changes what is trained on: the training images, held-out ones already apart: before they are
// distorted and their labels made noisy, so that those are as they would have been.
type Alteration func(*Sets) error

// OpenWith is OpenData by way of open, altered where alter is not nil.
func OpenWith(ctx context.Context, cfg *config.Config, open Opener, alter Alteration) (*Sets, error) {
	s, err := openData(ctx, cfg, open, alter)
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return nil, err
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

func openData(ctx context.Context, cfg *config.Config, open Opener, alter Alteration) (*Sets, error) {
	o := DataOptions(cfg)
	s := &Sets{LeftOut: data.LeftOut(o)}
	var err error
	if s.Train, s.Test, err = open(ctx, o); err != nil {
		return nil, err
	}
	s.broken(o.Broken)
	if o.Transform != nil {
		if s.Pixels, err = data.Pixels(o); err != nil {
			return nil, err
		}
	}
	if s.Train, s.Test, err = data.OfClasses(s.Train, s.Test, cfg.Data.Classes, cfg.Seed); err != nil {
		return nil, err
	}
	if err := s.HoldOut(cfg.Data.Split.Validation, cfg.Data.Split.Seed); err != nil {
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
	return s, s.addNoise(cfg)
}

// DataOptions translates the config's data section.
func DataOptions(cfg *config.Config) data.Options {
	d := cfg.Data
	o := data.Options{
		Name: d.Name, Source: d.Options, Size: d.Size, Crop: d.Crop, Split: d.Split.Options.Split(d.Split.Seed),
		Transform: d.Steps(), Packed: d.Transform.Packed, SkipPerClass: d.SkipPerClass, LimitPerClass: d.LimitPerClass, Seed: d.Split.Seed,
	}
	if d.SkipBroken {
		o.Broken = &data.Broken{}
	}
	if d.Size != 0 {
		o.Fit = d.Fit
	}
	if d.Color != "native" {
		o.Color = d.Color
	}
	return o
}

// Augment builds the random changes of training images; nil for none.
func Augment(cfg *config.Config, ds data.Dataset) (batch.Transform, error) {
	a := batch.Augment{Pad: cfg.Data.Augment.CropPadding}
	if cfg.Data.Augment.Flip {
		a.Flip = 0.5
	}
	if cfg.Data.Options.Traits().Vectors && (a.Pad > 0 || a.Flip > 0) {
		return nil, fmt.Errorf("%w: data.augment changes images; %s holds vectors", data.ErrUnfit, cfg.Data.Name)
	}
	return a.Transform()
}
