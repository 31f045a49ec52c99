package noise

import "math"

// gamma is a gamma distribution.
type gamma struct{ shape, scale float64 }

func (d gamma) mean() float64     { return float64(d.shape * d.scale) }
func (d gamma) variance() float64 { return float64(d.shape * d.scale * d.scale) }

// logNorm is the logarithm of the density's constant.
func (d gamma) logNorm() float64 {
	g, _ := math.Lgamma(d.shape)
	return -g - float64(d.shape*math.Log(d.scale))
}

// gammaOf is the gamma distribution of a mean and a variance, both above 0.
func gammaOf(mean, variance float64) gamma {
	return gamma{mean * mean / variance, variance / mean}
}

// mixture is two gamma distributions; weight is the share of high.
type mixture struct {
	low, high gamma
	weight    float64
}

// separation is Ashman's D: the distance of the means in units of the root mean square
// of the standard deviations.
func (m mixture) separation() float64 {
	return (m.high.mean() - m.low.mean()) / math.Sqrt((m.low.variance()+m.high.variance())/2)
}

// upper returns the probability, as a function of x > 0 and log x, that x is of high.
func (m mixture) upper() func(x, lx float64) float64 {
	c := math.Log(m.weight) - math.Log(1-m.weight) + m.high.logNorm() - m.low.logNorm()
	k, t := m.high.shape-m.low.shape, 1/m.low.scale-1/m.high.scale
	return func(x, lx float64) float64 { return 1 / (1 + math.Exp(-(c + float64(k*lx) + float64(t*x)))) }
}

// bins holds positive values by their logarithm, so that a fit costs the same for any
// number of them: values of a bin count as their mean.
type bins struct {
	x, lx, count []float64
	of           []int32 // each value's bin
}

// least is the least value, in units of the mean: gamma densities have a pole at 0, and
// hinges make many zeros.
const least = 1e-3

// newBins holds losses, no more than cut each and in units of their mean, which it
// returns.
func newBins(losses []float64, cut float64) (bins, float64) {
	const most = 500
	unit := 0.0
	for _, v := range losses {
		unit += min(v, cut) / float64(len(losses))
	}
	first := math.Log(least)
	width := (math.Log(max(cut/unit, 1)) - first) / most
	sum, count := make([]float64, most), make([]float64, most)
	b := bins{of: make([]int32, len(losses))}
	for i, v := range losses {
		x := max(min(v, cut)/unit, least)
		at := min(max(int32((math.Log(x)-first)/width), 0), most-1)
		b.of[i] = at
		sum[at] += x
		count[at]++
	}
	place := make([]int32, most)
	for at, n := range count {
		if n > 0 {
			place[at] = int32(len(b.x))
			x := sum[at] / n
			b.x, b.lx, b.count = append(b.x, x), append(b.lx, math.Log(x)), append(b.count, n)
		}
	}
	for i, at := range b.of {
		b.of[i] = place[at]
	}
	return b, unit
}

// split returns a mixture for fit to begin with: the values below and above the cut of
// least variance within (Otsu 1979), each for 95 % on its own side.
func (b bins) split() mixture {
	var n, sum float64
	for i, c := range b.count {
		n += c
		sum += float64(c * b.x[i])
	}
	var below, part, best float64
	cut := 0
	for i, c := range b.count[:len(b.count)-1] {
		below += c
		part += float64(c * b.x[i])
		d := part/below - (sum-part)/(n-below)
		if between := below * (n - below) * d * d; between > best {
			best, cut = between, i
		}
	}
	r := make([]float64, len(b.x))
	for i := range r {
		r[i] = 0.05
		if i > cut {
			r[i] = 0.95
		}
	}
	return b.moments(r)
}

// fit runs expectation maximization from m until the share moves by less than still.
func (b bins) fit(m mixture, still float64) mixture {
	r := make([]float64, len(b.x))
	for range 1000 {
		upper := m.upper()
		for i := range r {
			r[i] = upper(b.x[i], b.lx[i])
		}
		next := b.moments(r)
		done := math.Abs(next.weight-m.weight) < still
		if m = next; done {
			break
		}
	}
	if m.high.mean() < m.low.mean() {
		m.low, m.high, m.weight = m.high, m.low, 1-m.weight
	}
	return m
}

// moments returns the mixture whose high part is the values by the weights r.
func (b bins) moments(r []float64) mixture {
	var n, sum, square, mean [2]float64
	for i, c := range b.count {
		hi := float64(c * r[i])
		lo := c - hi
		n[0] += lo
		n[1] += hi
		sum[0] += float64(lo * b.x[i])
		sum[1] += float64(hi * b.x[i])
	}
	for side := range mean {
		n[side] = max(n[side], 1e-9) // an empty part keeps next to no weight
		mean[side] = max(sum[side]/n[side], least)
	}
	for i, c := range b.count {
		hi := float64(c * r[i])
		square[0] += float64((c - hi) * (b.x[i] - mean[0]) * (b.x[i] - mean[0]))
		square[1] += float64(hi * (b.x[i] - mean[1]) * (b.x[i] - mean[1]))
	}
	const floor = 1e-6 // of a variance: a part may be of one value
	return mixture{
		low:    gammaOf(mean[0], max(square[0]/n[0], floor)),
		high:   gammaOf(mean[1], max(square[1]/n[1], floor)),
		weight: n[1] / (n[0] + n[1]),
	}
}
