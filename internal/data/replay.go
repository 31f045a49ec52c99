package data

import "slices"

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
