package cluster

import (
	"context"
	"math"

	"tercet/internal/par"
)

const (
	wardRows = 32   // clusters searched for at a time
	wardCols = 2048 // products of each made at a time
	wardLast = 128  // clusters that are left to the chain
	wardFew  = 16   // searches that products one by one are cheaper for
	wardPays = 8    // searches for each merge up to which rounds pay
)

// rounds merges all pairs of clusters that are each other's nearest at once, again and
// again (Sumengen et al. 2021, "Scaling hierarchical agglomerative clustering to
// billion-sized datasets"): the searches of a round share blocks of products. It ends
// where few merges make many searches, as with one large cluster that is nearest to
// all others, which the chain of nearest neighbors does better.
func (w *ward) rounds(ctx context.Context, t *tree) error {
	gone := make([]int32, len(w.active)) // the slot that a merged one is now part of, or -1
	var missing []int32
	searches := 0
	for len(w.active) > wardLast {
		if err := t.look(ctx); err != nil {
			return err
		}
		gone = gone[:len(w.active)]
		for i := range gone {
			gone[i] = -1
		}
		merges := 0
		for _, i := range w.active {
			if j := w.next[i]; i < j && w.next[j] == i {
				t.join(w.of[j], w.of[i], math.Sqrt(w.least[i]))
				gone[i], gone[j] = i, i
				merges++
			}
		}
		if merges == 0 { // equal distances in a circle
			return nil
		}
		at := 0
		for _, i := range w.active {
			if b := gone[i]; b >= 0 && b != i {
				w.join(i, b)
				continue
			}
			w.active[at] = i
			at++
		}
		w.active = w.active[:at]
		missing = missing[:0]
		for _, x := range w.active {
			if next := w.next[x]; next >= 0 && gone[next] >= 0 {
				w.follow(x, gone[next])
			}
		}
		w.pack()
		for _, x := range w.active {
			if w.next[x] < 0 {
				missing = append(missing, x)
			}
		}
		if searches += len(missing); searches > wardPays*(len(t.joins)+wardLast) {
			return nil
		}
		w.searchAll(missing)
	}
	return nil
}

// searchAll finds the nearest of several clusters; slots are packed.
func (w *ward) searchAll(slots []int32) {
	if len(slots) < wardFew {
		for _, i := range slots {
			w.search(i)
		}
		return
	}
	m, d := len(w.active), w.d
	w.packed.Pack(m, d, w.single[:m*d])
	cols := w.packed.Cols()
	par.For(len(slots), wardRows, func(lo, hi int) {
		s := w.spare.Get()
		if len(s.dots) < wardRows*cols {
			s.dots, s.x = make([]float32, wardRows*cols), make([]float32, wardRows*d)
		}
		for at, i := range slots[lo:hi] {
			copy(s.x[at*d:(at+1)*d], w.single[int(i)*d:(int(i)+1)*d])
		}
		for c := 0; c < cols; c += wardCols {
			w.packed.Dots(hi-lo, s.x, d, c, min(cols, c+wardCols), 1, s.dots[c:], cols)
		}
		for at, i := range slots[lo:hi] {
			w.choose(i, s.dots[at*cols:][:m], s)
		}
		w.spare.Put(s)
	})
}
