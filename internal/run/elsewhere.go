package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/wire"
)

// Elsewhere opens data whose paths are relative from the current directory, and where
// that fails from the directory that the run was trained in. The data's fingerprint
// says whether they are the same.
func (r *Run) Elsewhere(open wire.Opener) wire.Opener {
	from := r.Manifest.Data.From
	return func(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
		train, test, err := open(ctx, o)
		here, e := os.Getwd()
		unread := errors.Is(err, data.ErrMissing) || errors.Is(err, data.ErrFormat)
		if !unread || e != nil || from == "" || from == here || !data.Relative(o.Source) {
			return train, test, r.moved(err, o)
		}
		if o.Packed != "" && !filepath.IsAbs(o.Packed) {
			o.Packed = filepath.Join(from, o.Packed)
		}
		o.Source = data.At(o.Source, filepath.Join(from, data.Root(o.Source)))
		train, test, there := open(ctx, o)
		if there != nil {
			return nil, nil, r.moved(fmt.Errorf("%w; the run was trained in %s, and from there: %w", err, from, there), o)
		}
		r.from = from
		return train, test, nil
	}
}

// moved says what to do where the data of a run that has begun are missing: its config
// is fixed.
func (r *Run) moved(err error, o data.Options) error {
	root := data.Root(o.Source)
	if !errors.Is(err, data.ErrMissing) || root == "" || r.Manifest.Data.Train.Items == 0 {
		return err
	}
	return fmt.Errorf("%w; the config of a run is fixed: move the data back to %s, or put a link to them there", err, root)
}

// recordData is what the manifest says of the sets that r is trained on.
func (r *Run) recordData(ctx context.Context, s *wire.Sets) (record.Data, error) {
	d, err := s.Record(ctx, r.Config)
	if d.From = r.from; d.From == "" && readsHere(r.Config) {
		d.From, _ = os.Getwd() // a hint: without it there is none
	}
	return d, err
}

// readsHere says that the paths of cfg's data count from the current directory.
func readsHere(cfg *config.Config) bool { return data.Relative(cfg.Data.Options) }
