package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/wire"
)

// Inspect reads all data of cfg and describes them. Where the sampler refuses
// the data, the document is complete but for it, and comes with the error.
func Inspect(ctx context.Context, cfg *config.Config, say progress.Say) (*printed.Inspected, error) {
	sets, err := wire.OpenData(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d := &printed.Inspected{Schema: record.DataSchema, Config: cfg.Name, Name: cfg.Data.Name, Noise: sets.Noise}
	if sets.LeftOut != "" {
		d.Warnings = append(d.Warnings, sets.LeftOut)
	}
	vectors := cfg.Data.Options.Traits().Vectors
	list := named(sets)
	for i, s := range list {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		say("read", i, len(list))
		st, err := setStats(ctx, s.ds, vectors)
		if err != nil {
			return nil, err
		}
		*setOf(d, s.name) = st
		warn(d, s.name, st)
	}
	say("read", len(list), len(list))
	for i, in := range list {
		for _, of := range list[i+1:] {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			if err := compare(ctx, d, of, in); err != nil {
				return nil, err
			}
		}
	}
	if cfg.LearnsMetric() { // from all triplets: nothing is sampled
		return d, nil
	}
	s, _, err := wire.BuildSampler(cfg, sets)
	d.Noise, d.Graph, d.Triplets = sets.Noise, sets.Graph, sets.Triplets
	if err != nil {
		return d, wire.InConfig("batch", err)
	}
	d.Sampler = &printed.SamplerPlan{Name: cfg.Batch.Sampler, BatchRows: s.BatchSize(), Steps: s.Steps(), Layout: s.Layout(), Coverage: batch.Cover(s, sets.Seen(), 0)}
	return d, nil
}

// InspectFiles describes embeddings (N, D) of any tool, with labels in npy or
// csv. The fingerprint is that of eval.json.
func InspectFiles(ctx context.Context, embeddings string, labels npy.LabelFile) (*printed.Inspected, error) {
	v, src, err := embed.ReadVectors(embeddings, labels)
	if err != nil {
		return nil, err
	}
	x, err := array.Of(v.X, v.N, v.D)
	if err != nil {
		return nil, err
	}
	var classes []string
	for _, y := range v.Labels {
		for int(y) >= len(classes) {
			classes = append(classes, strconv.Itoa(len(classes)))
		}
	}
	ds, err := data.NewVectors(x, v.Labels, classes)
	if err != nil {
		return nil, err
	}
	st, err := setStats(ctx, ds, true)
	if err != nil {
		return nil, err
	}
	st.Fingerprint = src.Fingerprint
	d := &printed.Inspected{Schema: record.DataSchema, Name: "npy", Embeddings: embeddings, Labels: labels.Path, Vectors: st}
	warn(d, "vectors", st)
	return d, nil
}

// namedSet is one of a run's sets.
type namedSet struct {
	name string
	ds   data.Dataset
}

// named lists the sets that there are.
func named(s *wire.Sets) []namedSet {
	var out []namedSet
	for _, n := range []namedSet{{"train", s.Train}, {"validation", s.Validation}, {"test", s.Test}} {
		if n.ds != nil {
			out = append(out, n)
		}
	}
	return out
}

func setOf(d *printed.Inspected, name string) **printed.SetStats {
	switch name {
	case "train":
		return &d.Train
	case "validation":
		return &d.Validation
	}
	return &d.Test
}

func setStats(ctx context.Context, ds data.Dataset, vectors bool) (*printed.SetStats, error) {
	st, err := data.Summary(ctx, ds)
	if err != nil {
		return nil, err
	}
	if vectors {
		st.Lengths, err = lengths(ds)
	}
	return st, err
}

func lengths(ds data.Dataset) (*printed.Lengths, error) {
	l := &printed.Lengths{Min: math.Inf(1)}
	_, _, dim := ds.Shape()
	x := make([]float32, dim)
	for i := range ds.Len() {
		if err := ds.Read(i, x); err != nil {
			return nil, fmt.Errorf("%s: %w", data.ItemName(ds, i), err)
		}
		square := 0.0
		for _, v := range x {
			square += float64(float64(v) * float64(v))
		}
		n := math.Sqrt(square)
		l.Min, l.Max, l.Mean = min(l.Min, n), max(l.Max, n), l.Mean+n/float64(ds.Len())
		if n == 0 {
			l.Zeros++
		}
	}
	return l, nil
}

// warn names what is seldom meant to be so.
func warn(d *printed.Inspected, name string, s *printed.SetStats) {
	add := func(n int, format string) {
		if n > 0 {
			d.Warnings = append(d.Warnings, name+": "+fmt.Sprintf(format, n))
		}
	}
	add(s.Conflicts, "items that occur earlier under another label: %d")
	add(s.Singles, "classes of one item, which has no positive and is left out as a query: %d")
	if s.Lengths != nil {
		add(s.Lengths.Zeros, "vectors of length 0, which have no direction and no cosine: %d")
	} else {
		add(s.Constant, "constant images: %d")
	}
}

// compare records what the set of has in common with the set in.
func compare(ctx context.Context, d *printed.Inspected, of, in namedSet) error {
	items, err := data.Overlap(ctx, in.ds, of.ds)
	if err != nil {
		if errors.Is(err, array.ErrShape) {
			return fmt.Errorf("%w: %s and %s: %w", data.ErrUnfit, in.name, of.name, err)
		}
		return err
	}
	o := printed.Overlap{Of: of.name, In: in.name, Items: items}
	has := map[string]bool{}
	for _, c := range data.Compact(in.ds).Classes() {
		has[c] = true
	}
	for _, c := range data.Compact(of.ds).Classes() {
		if has[c] {
			o.Classes++
		}
	}
	d.Overlaps = append(d.Overlaps, o)
	if items > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d of the %d items of %s are also in %s: scores on them flatter", items, of.ds.Len(), of.name, in.name))
	}
	return nil
}
