package certify

import "math"

const (
	// mixRows is how many of the nearest right rows are mixed with free weights.
	mixRows = 32
	// mixSteps is how many weights are tried.
	mixSteps = 200
	// mostMixed is how many mixtures a query keeps.
	mostMixed = 32
	// mostVain is for how many rows of a query weights may be looked for in vain.
	mostVain = 8
)

// mix looks for weights of the nearest right rows whose mixture beats row n, where no fixed
// one does. It is a game: one side chooses a row, the other side features of the reach, and
// the value is what the row is ahead of n there. Features answer the present weights, and the
// weights of rows that were ahead grow (multiplicative weights; Freund & Schapire, 1999). It
// ends with weights that suffice for all features, or with features, the mean of the
// answers, at which no row is ahead. A mixture that is found is tried first for other rows.
func (r *rows) mix(q *query, n int, at *reach) bool {
	if len(q.same) < 2 {
		return false
	}
	row, few := r.seen.Row(n), len(q.same)
	weights, score, ahead := make([]float64, few), make([]float64, few), make([]float64, few)
	m := mixture{seen: make([]float64, len(row))}
	answer, mean := make([]float64, len(row)), make([]float64, len(row))
	for k := range weights {
		weights[k] = 1 / float64(few)
	}
	for step := 1; step <= mixSteps; step++ {
		r.mixed(&m, q.same, weights)
		if least(m.seen, row, at)+(m.offset-r.offset[n]) > r.needs(m.half-r.half[n], at) {
			if len(q.mixed) < mostMixed { // others stay where they are: see view
				q.mixed, q.first = append(q.mixed, m), len(q.mixed)
			}
			return true
		}
		lowest(m.seen, row, at, answer)
		for k, v := range answer {
			mean[k] += (v - mean[k]) / float64(step)
		}
		most, size := math.Inf(-1), 0.0
		for k, j := range q.same {
			ahead[k] = r.ahead(j, n, answer, at)
			size, most = max(size, math.Abs(ahead[k])), max(most, r.ahead(j, n, mean, at))
		}
		if !(most > 0) {
			return false
		}
		grown(weights, score, ahead, size, step)
	}
	return false
}

// mixed makes m the mean of rows with weights.
func (r *rows) mixed(m *mixture, of []int32, weights []float64) {
	clear(m.seen)
	m.offset, m.half = 0, 0
	for k, j := range of {
		for i, v := range r.seen.Row(int(j)) {
			m.seen[i] += float64(weights[k] * float64(v))
		}
		m.offset += float64(weights[k] * r.offset[j])
		m.half += float64(weights[k] * r.half[j])
	}
}

// ahead is by how much row j beats row n at features h: more than 0 where it does.
func (r *rows) ahead(j int32, n int, h []float64, at *reach) float64 {
	sum, other := r.offset[j]-r.offset[n], r.seen.Row(n)
	for k, v := range r.seen.Row(int(j)) {
		sum += float64((float64(v) - float64(other[k])) * h[k])
	}
	return sum - r.needs(r.half[j]-r.half[n], at)
}

// grown adds what rows were ahead to their scores, in units of size, and makes weights of
// them.
func grown(weights, score, ahead []float64, size float64, step int) {
	top, sum := math.Inf(-1), 0.0
	for k, v := range ahead {
		score[k] += v / max(size, math.SmallestNonzeroFloat64)
		top = max(top, score[k])
	}
	rate := math.Sqrt(float64(len(weights)) / float64(step))
	for k, v := range score {
		weights[k] = math.Exp(float64(rate * (v - top)))
		sum += weights[k]
	}
	for k := range weights {
		weights[k] /= sum
	}
}

// lowest writes features of the reach at which <a - b, h> is least.
func lowest(a []float64, b []float32, at *reach, h []float64) {
	square := 0.0
	for k := range a {
		d := a[k] - float64(b[k])
		h[k] = at.c[k] - math.Copysign(at.r[k], d)
		square += float64(d * d)
	}
	if at.ball > 0 && square > 0 {
		by := at.ball / math.Sqrt(square)
		for k := range a {
			h[k] -= float64(by * (a[k] - float64(b[k])))
		}
	}
}
