package attack

import (
	"slices"

	"tercet/internal/engine/array"
)

// Pictures are the images of some queries under one attack and variant, in the
// first draw.
type Pictures struct {
	Attack  string
	Variant Variant
	Kept    []int        // (K) places in Result.Queries or Candidates, ascending, evenly spread
	Items   []int        // (K) images
	Clean   *array.Array // (K, H, W, C); all pictures of the same images share it
	// Adversarial (K, H, W, C) are the attacked images, Embedding (K, D) theirs.
	Adversarial, Embedding *array.Array
	Targets                [][]int32 // images aimed at; nil: none
	Objective              []float64 // at the first iterate; absent at eps 0
}

// picture makes room for the pictures of an attack.
func (r *Result) picture(attack string, k int, like *array.Array, of *victims) []*Pictures {
	n := len(r.Queries)
	if k = min(k, n); k == 0 {
		return nil
	}
	h, w, c := like.Shape[1], like.Shape[2], like.Shape[3]
	kept, items := make([]int, k), make([]int, k)
	for i := range kept {
		kept[i] = i * n / k
		items[i] = of.items[kept[i]]
	}
	images := array.New(k, h, w, c)
	for _, p := range r.Pictures {
		if slices.Equal(p.Items, items) {
			images = p.Clean
		}
	}
	var out []*Pictures
	for _, s := range r.Scored {
		out = append(out, &Pictures{
			Attack: attack, Variant: s.Variant, Kept: kept, Items: items, Clean: images,
			Adversarial: array.New(k, h, w, c), Embedding: array.New(k, of.clean.Cols()),
			Targets: make([][]int32, k), Objective: make([]float64, k),
		})
	}
	r.Pictures = append(r.Pictures, out...)
	return out
}

// keep stores the wanted images of the marked rows of w, or of all, for variant k.
func (j *job) keep(k int, w *workspace, z *array.Array, marked []bool, draw int) {
	if j.kept == nil || draw > 0 {
		return
	}
	p := j.kept[k]
	for i, place := range w.places {
		at, wanted := slices.BinarySearch(p.Kept, place)
		if !wanted || marked != nil && !marked[i] {
			continue
		}
		copy(p.Clean.Row(at), w.x.Row(i))
		copy(p.Adversarial.Row(at), w.adv.Row(i))
		copy(p.Embedding.Row(at), z.Row(i))
		p.Targets[at] = slices.Clone(j.methods[k].Targets(i))
		for n, t := range p.Targets[at] {
			p.Targets[at][n] = j.aimed.Image(t)
		}
		if p.Objective != nil {
			p.Objective[at] = w.first[i]
		}
	}
}

// still keeps the clean images as those of an attack that does not move them.
func (j *job) still(w *workspace, draw int) {
	copy(w.adv.Data, w.x.Data)
	for k := range j.kept {
		j.kept[k].Objective = nil
		j.keep(k, w, w.batch.Clean, nil, draw)
	}
}
