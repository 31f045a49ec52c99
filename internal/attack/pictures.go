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
	Kept    []int        // (K) places in Result.Queries, ascending, evenly spread
	Clean   *array.Array // (K, H, W, C); all pictures of a result share it
	// Adversarial (K, H, W, C) are the attacked images, Embedding (K, D) theirs.
	Adversarial, Embedding *array.Array
	Targets                [][]int32 // gallery rows aimed at; nil: none
	Objective              []float64 // at the first iterate; absent at eps 0
}

// picture makes room for the pictures of an attack.
func (r *Result) picture(attack string, k int, like, clean *array.Array) []*Pictures {
	n := len(r.Queries)
	if k = min(k, n); k == 0 {
		return nil
	}
	h, w, c := like.Shape[1], like.Shape[2], like.Shape[3]
	var kept []int
	images := array.New(k, h, w, c)
	if len(r.Pictures) > 0 {
		kept, images = r.Pictures[0].Kept, r.Pictures[0].Clean
	}
	for i := len(kept); i < k; i++ {
		kept = append(kept, i*n/k)
	}
	var out []*Pictures
	for _, s := range r.Scored {
		out = append(out, &Pictures{
			Attack: attack, Variant: s.Variant, Kept: kept, Clean: images,
			Adversarial: array.New(k, h, w, c), Embedding: array.New(k, clean.Cols()),
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
