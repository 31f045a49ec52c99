// Package batch says which items of a dataset make each batch (samplers, given pairs and
// triplets) and makes the batches ahead of their use (Loader). The batches of an epoch
// depend only on the seed, the epoch and the step.
package batch

import (
	"slices"

	"tercet/internal/data"
	"tercet/internal/data/fault"
)

// Layouts of a batch.
const (
	// LayoutPairs: rows 2r and 2r+1 are a pair of one class.
	LayoutPairs = "pairs"
	// LayoutGeneral: nothing is promised.
	LayoutGeneral = "general"
	// LayoutGivenPairs: rows 2r and 2r+1 are a given pair; their labels are 0, 0
	// where it is said to be of one class and 0, 1 where not (see RowLabels).
	LayoutGivenPairs = "given-pairs"
	// LayoutGivenTriplets: rows 3r, 3r+1 and 3r+2 are a given triplet; their
	// labels are 0, 0, 1.
	LayoutGivenTriplets = "given-triplets"
)

// Sampler says which items make each batch.
type Sampler interface {
	// Plan returns the item indices of each batch of an epoch: a pure function
	// of the sampler's seed and the epoch. The caller owns the result.
	Plan(epoch int) [][]int32
	// Steps returns the number of batches of every epoch.
	Steps() int
	// BatchSize returns the number of items in a full batch; the last may be
	// shorter.
	BatchSize() int
	// Layout returns LayoutPairs, LayoutGeneral or what else the rows promise.
	Layout() string
}

// groups is what samplers know of a dataset.
type groups struct {
	labels  []int32
	members [][]int32 // items of each class, rising
	seed    uint64
}

func grouped(ds data.Dataset, o Options) groups {
	return groups{labels: ds.Labels(), members: data.ByClass(ds), seed: o.Seed}
}

// needTwo returns an error when fewer than two classes have items.
func (g *groups) needTwo(name string) error {
	full := 0
	for _, m := range g.members {
		if len(m) > 0 {
			full++
		}
	}
	if full < 2 {
		return fault.Unfit("sampler %s: the data have %d class(es) with samples; negatives need at least 2", name, full)
	}
	return nil
}

// cut splits ids into batches of size; the last may be shorter, or is left out.
func cut(ids []int32, size int, dropLast bool) [][]int32 {
	n := batches(len(ids), size, dropLast)
	plan := make([][]int32, n)
	for s := range plan {
		hi := min((s+1)*size, len(ids))
		plan[s] = ids[s*size : hi : hi]
	}
	return plan
}

func batches(n, size int, dropLast bool) int {
	if dropLast {
		return n / size
	}
	return (n + size - 1) / size
}

// Replay is a sampler that gives each batch of s so many times in a row, as free
// adversarial training does: an epoch has as many steps as before, and shows one part in
// times of the data. s is one whose batches are items alone.
func Replay(s Sampler, times int) Sampler {
	if times <= 1 {
		return s
	}
	return replayed{s, times}
}

type replayed struct {
	Sampler
	times int
}

// Plan implements Sampler.
func (r replayed) Plan(epoch int) [][]int32 {
	steps := r.Steps()
	out := make([][]int32, steps)
	plans := map[int][][]int32{}
	for k := range out {
		batch := (epoch*steps + k) / r.times
		from := batch / steps
		if plans[from] == nil {
			plans[from] = r.Sampler.Plan(from)
		}
		out[k] = slices.Clone(plans[from][batch%steps])
	}
	return out
}

// Views is a sampler that gives each item of a batch of s so many times, one after the
// other. The loader changes each row on its own. s is one whose batches are items alone.
func Views(s Sampler, views int) Sampler {
	if views <= 1 {
		return s
	}
	return viewed{s, views}
}

type viewed struct {
	Sampler
	views int
}

// Plan implements Sampler.
func (v viewed) Plan(epoch int) [][]int32 {
	plan := v.Sampler.Plan(epoch)
	for b, ids := range plan {
		rows := make([]int32, 0, v.views*len(ids))
		for _, id := range ids {
			for range v.views {
				rows = append(rows, id)
			}
		}
		plan[b] = rows
	}
	return plan
}

// BatchSize implements Sampler.
func (v viewed) BatchSize() int { return v.views * v.Sampler.BatchSize() }

// Layout implements Sampler.
func (viewed) Layout() string { return LayoutGeneral }
