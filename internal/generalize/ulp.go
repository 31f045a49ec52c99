package generalize

import (
	"math"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// noImage is the Image of a record.Replacement that replaces none.
const noImage = -1

// ulps are n controls: weights of m, which is trained, drawn by the seed. The same n has
// the same ones, and more n have these and others.
func ulps(m *nn.Model, n int, seed uint64) []record.Replacement {
	total := 0
	for _, p := range m.Params() {
		if p.Trained() {
			total += len(p.Value.Data)
		}
	}
	var out []record.Replacement
	taken := map[int]bool{}
	r := rng.New(seed, "stability/"+ReplaceUlp)
	for len(out) < min(n, total) {
		if w := r.IntN(total); !taken[w] {
			taken[w] = true
			out = append(out, record.Replacement{Image: noImage, Kind: ReplaceUlp, By: w, Of: "weights"})
		}
	}
	return out
}

// nextFloat moves the trained weight of that number, or the first one after it that is not
// 0, to the next float32 away from 0. Next to 0 would be a number that no sum shows.
func nextFloat(m *nn.Model, at int) {
	var weights [][]float32
	total := 0
	for _, p := range m.Params() {
		if p.Trained() {
			weights, total = append(weights, p.Value.Data), total+len(p.Value.Data)
		}
	}
	for k := range total {
		i := (at + k) % total
		for _, w := range weights {
			if i >= len(w) {
				i -= len(w)
				continue
			}
			if w[i] == 0 {
				break
			}
			w[i] = math.Nextafter32(w[i], float32(math.Inf(int(math.Copysign(1, float64(w[i]))))))
			return
		}
	}
}
