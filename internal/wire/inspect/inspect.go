package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/wire"
)

// DataDoc describes the data of a config or of npy files, schema tercet.data/1.
type DataDoc struct {
	Schema     string    `json:"schema"`
	Config     string    `json:"config,omitempty"`     // the config's name
	Name       string    `json:"name"`                 // the source
	Embeddings string    `json:"embeddings,omitempty"` // npy file, where there is no config
	Labels     string    `json:"labels,omitempty"`
	Train      *SetStats `json:"train,omitempty"`
	Validation *SetStats `json:"validation,omitempty"`
	Test       *SetStats `json:"test,omitempty"`
	Vectors    *SetStats `json:"vectors,omitempty"` // of npy files without a config
	Overlaps   []Overlap `json:"overlaps,omitempty"`
	// Annotation is of a source that has one, in place of the sets.
	Annotation *AnnotationDoc `json:"annotation,omitempty"`
	// Noise is on the labels that the sampler sees, or on the pairs or triplets that it
	// gives, which Graph and Triplets describe; the sets are described under true labels.
	Noise    *record.Noise     `json:"noise,omitempty"`
	Graph    *record.PairGraph `json:"graph,omitempty"`
	Triplets *record.Triplets  `json:"triplets,omitempty"`
	Sampler  *SamplerRecord    `json:"sampler,omitempty"` // null where the data do not fit it
	Warnings []string          `json:"warnings,omitempty"`
}

// SetStats describes a set. Its fingerprint is the one that manifests and result
// documents carry.
type SetStats struct {
	data.Stats
	Lengths *Lengths `json:"lengths,omitempty"` // of vectors
}

// Lengths are the Euclidean lengths of vectors.
type Lengths struct {
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	Max   float64 `json:"max"`
	Zeros int     `json:"zeros"` // vectors of length 0
}

// Overlap says what two sets have in common: items of the set Of whose pixels
// are also in the set In, and classes, by name, that have items in both.
type Overlap struct {
	Of      string `json:"of"`
	In      string `json:"in"`
	Items   int    `json:"items"`
	Classes int    `json:"classes"`
}

// SamplerRecord is the batcher of a config on its training set.
type SamplerRecord struct {
	Name      string          `json:"name"`
	BatchRows int             `json:"batch_rows"`
	Steps     int             `json:"steps_per_epoch"`
	Layout    string          `json:"layout"`
	Coverage  record.Coverage `json:"coverage"` // of epoch 0
}

// Inspect reads all data of cfg and describes them. Where the sampler refuses
// the data, the document is complete but for it, and comes with the error.
func Inspect(ctx context.Context, cfg *config.Config, say progress.Say) (*DataDoc, error) {
	sets, err := wire.OpenData(cfg)
	if err != nil {
		return nil, err
	}
	d := &DataDoc{Schema: record.DataSchema, Config: cfg.Name, Name: cfg.Data.Name, Noise: sets.Noise}
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
		st, err := setStats(s.ds, vectors)
		if err != nil {
			return nil, err
		}
		*d.set(s.name) = st
		d.warn(s.name, st)
	}
	say("read", len(list), len(list))
	for i, in := range list {
		for _, of := range list[i+1:] {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			if err := d.compare(of, in); err != nil {
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
	d.Sampler = &SamplerRecord{cfg.Batch.Sampler, s.BatchSize(), s.Steps(), s.Layout(), data.Cover(s, sets.Seen(), 0)}
	return d, nil
}

// InspectFiles describes embeddings (N, D) of any tool, with labels in npy or
// csv. The fingerprint is that of eval.json.
func InspectFiles(embeddings string, labels data.LabelFile) (*DataDoc, error) {
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
	st, err := setStats(ds, true)
	if err != nil {
		return nil, err
	}
	st.Fingerprint = src.Fingerprint
	d := &DataDoc{Schema: record.DataSchema, Name: "npy", Embeddings: embeddings, Labels: labels.Path, Vectors: st}
	d.warn("vectors", st)
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

func (d *DataDoc) set(name string) **SetStats {
	switch name {
	case "train":
		return &d.Train
	case "validation":
		return &d.Validation
	}
	return &d.Test
}

func setStats(ds data.Dataset, vectors bool) (*SetStats, error) {
	st, err := data.Summary(ds)
	if err != nil {
		return nil, err
	}
	st.Fingerprint = ds.Fingerprint()
	out := &SetStats{Stats: *st}
	if vectors {
		out.Lengths, err = lengths(ds)
	}
	return out, err
}

func lengths(ds data.Dataset) (*Lengths, error) {
	l := &Lengths{Min: math.Inf(1)}
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
func (d *DataDoc) warn(name string, s *SetStats) {
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
func (d *DataDoc) compare(of, in namedSet) error {
	items, err := data.Overlap(in.ds, of.ds)
	if err != nil {
		if errors.Is(err, array.ErrShape) {
			return fmt.Errorf("%w: %s and %s: %w", data.ErrUnfit, in.name, of.name, err)
		}
		return err
	}
	o := Overlap{Of: of.name, In: in.name, Items: items}
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
