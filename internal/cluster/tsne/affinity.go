package tsne

import "math"

// conditional sets p[j] = p(j|i), the share of neighbor j in the normal density
// around i whose width gives it the perplexity, from the squared distances d2 of its
// neighbors: exp(-beta d2[j]) over their sum, with entropy log(perplexity). Where
// the nearest neighbors are equally near and as many as the perplexity, they share
// alone; where there are no more neighbors than that, or all are equally near, all
// share alike.
func conditional(d2 []float64, perplexity float64, p []float64) {
	near, far := math.Inf(1), 0.0
	for _, v := range d2 {
		near, far = min(near, v), max(far, v)
	}
	ties, mean := 0, 0.0
	for _, v := range d2 {
		if v == near {
			ties++
		}
		mean += (v - near) / (far - near)
	}
	n := len(d2)
	switch {
	case near == far || float64(n) <= perplexity:
		for j := range p {
			p[j] = 1 / float64(n)
		}
		return
	case float64(ties) >= perplexity:
		for j, v := range d2 {
			p[j] = 0
			if v == near {
				p[j] = 1 / float64(ties)
			}
		}
		return
	}
	// The unit of distances is far - near; t = log(beta) by Newton's method within
	// what is known to lie on either side.
	want := math.Log(perplexity)
	t, low, high := -math.Log(mean/float64(n)), math.Inf(-1), math.Inf(1)
	for range 200 {
		beta := math.Exp(t)
		sum, first, second := 0.0, 0.0, 0.0
		for j, v := range d2 {
			v = (v - near) / (far - near)
			e := math.Exp(-beta * v)
			p[j] = e
			sum += e
			first += float64(e * v)
			second += float64(e * v * v)
		}
		for j := range p {
			p[j] /= sum
		}
		first /= sum
		second /= sum
		surplus := math.Log(sum) + float64(beta*first) - want
		if math.Abs(surplus) < 1e-9 {
			return
		}
		if surplus > 0 {
			low = t
		} else {
			high = t
		}
		// The entropy falls by beta^2 times the variance of v for each unit of t.
		next := t + surplus/(beta*beta*(second-float64(first*first)))
		next = max(t-3, min(t+3, next))
		if !(next > low && next < high) {
			switch {
			case math.IsInf(low, -1):
				next = t - 3
			case math.IsInf(high, 1):
				next = t + 3
			default:
				next = (low + high) / 2
			}
		}
		if next == t {
			return
		}
		t = next
	}
}
