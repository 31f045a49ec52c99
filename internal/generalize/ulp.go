package generalize

import (
	"math"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// noImage is the Image of a record.Replacement that replaces none.
const noImage = -1

// trainedWeights are the weights of m that are trained, by parameter.
func trainedWeights(m *nn.Model) [][]float32 {
	var out [][]float32
	for _, p := range m.Params() {
		if p.Trained() {
			out = append(out, p.Value.Data)
		}
	}
	return out
}

// ulps are n controls, drawn by the seed among the weights that are not 0 at the beginning
// and that training has changed: one that it has not has had no gradient, as those of
// pixels that are 0 in all images, and moving it changes nothing. The same n has the same
// ones, and more n have these and others; fewer than n where there are no more.
func ulps(begin, end *nn.Model, n int, seed uint64) []record.Replacement {
	var live []int
	at := 0
	after := trainedWeights(end)
	for k, before := range trainedWeights(begin) {
		for i, v := range before {
			if v != 0 && v != after[k][i] {
				live = append(live, at+i)
			}
		}
		at += len(before)
	}
	var out []record.Replacement
	taken := map[int]bool{}
	r := rng.New(seed, "stability/"+ReplaceUlp)
	for len(out) < min(n, len(live)) {
		if w := live[r.IntN(len(live))]; !taken[w] {
			taken[w] = true
			out = append(out, record.Replacement{Image: noImage, Kind: ReplaceUlp, By: w, Of: "weights"})
		}
	}
	return out
}

// nextFloat moves the trained weight of that number to the next float32 away from 0.
func nextFloat(m *nn.Model, at int) {
	for _, w := range trainedWeights(m) {
		if at < len(w) {
			w[at] = math.Nextafter32(w[at], float32(math.Inf(int(math.Copysign(1, float64(w[at]))))))
			return
		}
		at -= len(w)
	}
}
