package wire

import (
	"context"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// Sets are the datasets of a run, under their true labels. Validation is nil where
// nothing is held out, Test where the source has none.
type Sets struct {
	Train, Validation, Test data.Dataset
	// Noisy is Train under the labels that are trained on, nil where these are the
	// true ones; Noise says how many labels, pairs or triplets are wrong.
	Noisy data.Dataset
	Noise *record.Noise
	// Graph and Triplets describe what the sampler gives in its first epoch, once it
	// was made; nil where it gives none.
	Graph    *record.PairGraph
	Triplets *record.Triplets
	// Pixels says how images are made from files, where the config does.
	Pixels *record.Pixels
	// LeftOut says which files of the source are images that are not read; "" for none.
	LeftOut string
	// Broken are image files that cannot be decoded, where the config leaves such out.
	Broken []record.BrokenImage
	// Begin, where set, changes the weights that training begins with.
	Begin func(*nn.Model)
}

// broken keeps what was left out.
func (s *Sets) broken(b *data.Broken) {
	what := b.String()
	if what == "" {
		return
	}
	s.Broken = b.Images
	if s.LeftOut != "" {
		what = s.LeftOut + "; " + what
	}
	s.LeftOut = what
}

// Seen returns the items of Train under the labels that are trained on.
func (s *Sets) Seen() data.Dataset {
	if s.Noisy != nil {
		return s.Noisy
	}
	return s.Train
}

// Pick returns the set of that name.
func (s *Sets) Pick(name string) (data.Dataset, error) {
	var ds data.Dataset
	switch name {
	case "train":
		ds = s.Train
	case "validation":
		ds = s.Validation
	case "test":
		ds = s.Test
	default:
		return nil, fmt.Errorf("unknown set %q (valid: test, validation, train)", name)
	}
	if ds == nil {
		hint := ""
		if name == "validation" {
			hint = "; data.split.validation holds one out"
		}
		return nil, fmt.Errorf("%w: this config has no %s set%s", data.ErrUnfit, name, hint)
	}
	return ds, nil
}

// String describes the sets in one line.
func (s *Sets) String() string {
	out := "train " + describe(s.Train)
	if s.Validation != nil {
		out += ", validation " + describe(s.Validation)
	}
	if s.Test != nil {
		out += ", test " + describe(s.Test)
	}
	return out
}

func describe(ds data.Dataset) string {
	h, w, c := ds.Shape()
	return fmt.Sprintf("%d images of %d classes (%dx%dx%d)", ds.Len(), data.Distinct(ds.Labels()), h, w, c)
}

// Record is what the manifest says of the sets. The error is that of reading an item, or of
// ctx.
func (s *Sets) Record(ctx context.Context, cfg *config.Config) (record.Data, error) {
	r := record.Data{Name: cfg.Data.Name, Pixels: s.Pixels, Noise: s.Noise, Graph: s.Graph, Triplets: s.Triplets, Broken: s.Broken}
	if s.Validation != nil {
		r.Validation = new(record.Set)
	}
	for _, set := range []struct {
		of *record.Set
		ds data.Dataset
	}{{&r.Train, s.Train}, {r.Validation, s.Validation}, {&r.Test, s.Test}} {
		if set.ds == nil {
			continue
		}
		var err error
		if *set.of, err = SetRecord(ctx, set.ds); err != nil {
			return r, err
		}
	}
	return r, nil
}

// SetRecord is what the manifest says of one set. The error is that of reading an item, or
// of ctx.
func SetRecord(ctx context.Context, ds data.Dataset) (record.Set, error) {
	h, w, c := ds.Shape()
	print, err := ds.Fingerprint(ctx)
	return record.Set{Items: ds.Len(), Classes: data.Distinct(ds.Labels()), Shape: [3]int{h, w, c}, Fingerprint: print}, err
}

// pairable refuses training data in which no item has another of its class: a
// sampler that may pair an item with itself would train on distances of 0.
func pairable(ds data.Dataset) error {
	if n := ds.Len(); n > 0 && data.Distinct(ds.Labels()) == n {
		return fmt.Errorf("%w: each of the %d training items is alone in its class, so nothing says what should be close; give at least two items of a class", data.ErrUnfit, n)
	}
	return nil
}
