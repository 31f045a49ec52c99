package attack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

// saveImages writes what an independent check needs: the gallery with its labels,
// the queries and their images, and for each attack and variant the attacked
// images, what they were aimed at, the objective before the first step and the
// scores query by query. adversarial.npy are the images of ES, or else of the first
// attack, in the fixed variant, or else the published one.
func saveImages(dir string, a *robustness.Attacked) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	res := a.Result
	f := folder{dir: dir}
	f.set(res.Queries, a.Gallery, a.Embedded)
	clean := false
	for _, p := range res.Pictures {
		described, err := attack.Named(p.Attack)
		switch {
		case err == nil && described.Candidates && res.Candidates != nil:
			f.floats("clean_candidates", p.Clean)
			f.items("candidates", res.Candidates)
		case !clean:
			f.floats("clean", p.Clean)
			clean = true
		}
		name := p.Attack + "_" + string(p.Variant)
		f.floats("adversarial_"+name, p.Adversarial)
		if n := len(p.Targets[0]); n > 0 {
			flat := lists.Flat(p.Targets, func(t []int32) []int32 { return t })
			f.ints("targets_"+name, flat, len(p.Targets), n)
		}
		if p.Objective != nil {
			f.floats("first_objective_"+name, vector(p.Objective))
		}
		for _, s := range res.Scored {
			if s.Variant != p.Variant {
				continue
			}
			keys := attack.Keys([]string{p.Attack})
			for _, key := range keys {
				file := "values_" + name
				if len(keys) > 1 {
					file += "_" + strings.ReplaceAll(key, ":", "-") // Windows takes no colon
				}
				f.floats(file, vector(s.Adversarial[s.Column(key)]))
			}
		}
	}
	shown := attack.Shown(a.Doc.Options.Attacks)
	for _, v := range []attack.Variant{attack.Fixed, attack.Published} {
		if p := res.PicturesOf(shown, v); p != nil {
			f.floats("adversarial", p.Adversarial)
			break
		}
	}
	return f.err
}

// saveWorst writes what an independent check of a worst case needs: the gallery with its
// labels, the queries, and for each gallery the image kept of each query and the member that
// broke it, 0 for none.
func saveWorst(dir string, a *robustness.WorstAttacked) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f := folder{dir: dir}
	f.set(a.Result.Queries, a.Gallery, a.Embedded)
	clean := array.New(a.Result.Galleries[0].Images.Shape...)
	for i, q := range a.Result.Queries {
		if err := a.Embedded.Data.Read(q, clean.Row(i)); err != nil {
			return fmt.Errorf("image %d of the set: %w", q, err)
		}
	}
	f.floats("clean", clean)
	f.floats("adversarial", a.Result.Galleries[0].Images) // as --verify reads it
	for _, s := range a.Result.Galleries {
		f.floats("adversarial_"+s.Gallery, s.Images)
		f.items("broken_by_"+s.Gallery, s.By)
	}
	return f.err
}

// set writes the queries, and the gallery with its labels.
func (f *folder) set(queries []int, g *retrieval.Gallery, e *run.Embedded) {
	f.items("queries", queries)
	if g.Apart() {
		rows := make([]int32, g.Len())
		for j := range rows {
			rows[j] = g.Image(int32(j))
		}
		f.ints("gallery_items", rows, len(rows))
	}
	f.ints("labels", e.Data.Labels(), e.Data.Len())
	f.floats("gallery", e.Vectors)
}

// folder writes npy files and keeps the first error.
type folder struct {
	dir string
	err error
}

func (f *folder) write(name string, to func(io.Writer) error) {
	if f.err == nil {
		f.err = fsx.Write(filepath.Join(f.dir, name+".npy"), 0o644, to)
	}
}

func (f *folder) floats(name string, x *array.Array) {
	f.write(name, func(w io.Writer) error { return npy.Write(w, x) })
}

func (f *folder) ints(name string, x []int32, shape ...int) {
	f.write(name, func(w io.Writer) error { return npy.WriteInts(w, x, shape...) })
}

func (f *folder) items(name string, items []int) {
	x := make([]int32, len(items))
	for i, q := range items {
		x[i] = int32(q)
	}
	f.ints(name, x, len(x))
}

func vector(v []float64) *array.Array {
	x := array.New(len(v))
	for i, e := range v {
		x.Data[i] = float32(e)
	}
	return x
}
