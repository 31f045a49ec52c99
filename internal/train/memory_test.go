package train

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
)

func memoryBatch(r *rng.Stream, items []uint64) (*array.Array, *adversary.Batch) {
	z := array.New(len(items), 3)
	for i := range z.Data {
		z.Data[i] = float32(r.NormFloat64())
	}
	b := &adversary.Batch{IDs: items}
	for _, item := range items {
		b.Labels = append(b.Labels, int32(item%3))
	}
	return z, b
}

// A loss on pairs with a memory is the mean over pairs of two images of the batch, and of
// an image of the batch with each other image among the last ones, as a plain loop says.
// The gradient is that of the batch alone.
func TestMemoryOfPairs(t *testing.T) {
	t.Parallel()
	r := rng.New(1, "memory")
	o := loss.ContrastiveDefaults()
	o.Eps = 0
	obj, err := o.New()
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trainer{Miner: mine.AllPairs{}, Memory: &Memory{Size: 5}, Mined: rng.New(2, "mine"), Objective: obj}
	type kept struct {
		item uint64
		z    []float32
	}
	var queue []kept
	for _, items := range [][]uint64{{1, 2, 3, 4}, {5, 2, 6, 9}, {1, 6, 7, 8}, {10, 11, 12, 13}} {
		z, b := memoryBatch(r, items)
		all, joined := tr.Memory.join(z, b)
		if _, err := tr.mine(all, joined, z.Rows()); err != nil {
			t.Fatal(err)
		}
		grad := all.Clone()
		res, err := obj.Eval(all, joined.Tuples, grad)
		if err != nil {
			t.Fatal(err)
		}
		value := func(move int, step float64) float64 {
			at := slices.Clone(z.Data)
			at[move] += float32(step)
			sum, n := 0.0, 0
			pair := func(x, y []float32, same bool) {
				d2 := 0.0
				for k := range x {
					d := float64(x[k]) - float64(y[k])
					d2 += d * d
				}
				n++
				if same {
					sum += d2
				} else if gap := 1 - math.Sqrt(d2); gap > 0 {
					sum += gap * gap
				}
			}
			for i, a := range items {
				x := at[3*i : 3*i+3]
				for j := range i {
					pair(x, at[3*j:3*j+3], a%3 == items[j]%3)
				}
				for _, q := range queue {
					if !slices.Contains(items, q.item) {
						pair(x, q.z, a%3 == q.item%3)
					}
				}
			}
			return sum / float64(n)
		}
		if want := value(0, 0); math.Abs(res.Loss-want) > 1e-6*(1+want) {
			t.Errorf("items %v: loss %v, want %v", items, res.Loss, want)
		}
		for k := range z.Data {
			const h = 1.0 / 1024
			want := (value(k, h) - value(k, -h)) / (2 * h)
			if got := float64(grad.Data[k]); math.Abs(got-want) > 2e-3*(1+math.Abs(want)) {
				t.Errorf("items %v: gradient %d is %v, differences give %v", items, k, got, want)
			}
		}
		tr.Memory.push(z, b)
		for i, item := range items {
			queue = append(queue, kept{item, slices.Clone(z.Row(i))})
		}
		queue = queue[max(0, len(queue)-5):]
	}
}

// Anchors of triplets are images of the batch, and no triplet has an image twice.
func TestMemoryOfTriplets(t *testing.T) {
	t.Parallel()
	r := rng.New(3, "memory")
	miner, err := mine.New("batch-all", mine.Options{Layout: mine.General})
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trainer{Miner: miner, Memory: &Memory{Size: 6}, Mined: rng.New(2, "mine")}
	later := 0
	for _, items := range [][]uint64{{1, 2, 3, 4}, {5, 2, 6, 9}, {1, 6, 7, 8}} {
		z, b := memoryBatch(r, items)
		all, joined := tr.Memory.join(z, b)
		if _, err := tr.mine(all, joined, z.Rows()); err != nil {
			t.Fatal(err)
		}
		for _, x := range joined.Tuples.Triplets {
			item := func(row int32) uint64 { return joined.IDs[row] }
			if int(x.A) >= len(items) || item(x.A) == item(x.P) || item(x.A)%3 != item(x.P)%3 || item(x.A)%3 == item(x.N)%3 {
				t.Errorf("items %v: triplet %v of %v", items, x, joined.IDs)
			}
			if int(x.N) >= len(items) {
				later++
			}
		}
		tr.Memory.push(z, b)
	}
	if later == 0 {
		t.Error("no triplet has an image of the memory")
	}
}

// A memory comes back from a checkpoint as it was; another one's is refused.
func TestMemoryRestored(t *testing.T) {
	t.Parallel()
	r := rng.New(4, "memory")
	m := &Memory{Size: 5}
	for _, items := range [][]uint64{{1, 2, 3, 4}, {5, 2, 6, 9}} {
		m.push(memoryBatch(r, items))
	}
	f := &safetensors.File{Meta: map[string]string{}}
	if err := m.store(f); err != nil {
		t.Fatal(err)
	}
	again := &Memory{Size: 5}
	if err := again.restore(f, 3); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.rows, m.rows) || !slices.Equal(again.items, []uint64{4, 5, 2, 6, 9}) || !slices.Equal(again.labels, m.labels) {
		t.Errorf("%+v, want %+v", again, m)
	}
	if (&Memory{Size: 4}).restore(f, 3) == nil || (&Memory{Size: 5}).restore(f, 2) == nil {
		t.Error("the memory of another config is accepted")
	}
	f.Meta["memory"] = `{"labels": [1], "items": [1]}`
	if (&Memory{Size: 5}).restore(f, 3) == nil {
		t.Error("labels of another number of embeddings are accepted")
	}
}
