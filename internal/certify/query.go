package certify

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// nearRows is how many of the nearest right rows are tried alone.
const nearRows = 8

// mixture is a weighted mean of right rows.
type mixture struct {
	seen   []float64 // (K)
	offset float64
	half   float64
}

// query is an image whose nearest row is to be proven right.
type query struct {
	right bool // the nearest row of the clean image is
	mixed []mixture
	same  []int32 // right rows that are mixed with free weights, nearest first
	wrong []int32 // rows of other classes, nearest first
	first int     // mixture that is tried first
	vain  int     // rows of the box at hand for which mix found nothing
	shown int     // mixture of the last products, see far
	// proven counts the wrong rows that are proven for all smaller boxes.
	proven int
}

// newQuery sorts the rows by distances, float32 from the embedding of image item, and makes
// the mixtures.
func (r *rows) newQuery(item int, right bool, distances []float32) *query {
	label := r.g.Label(item)
	q := &query{right: right}
	if !q.right {
		return q
	}
	own := r.search.Own(item)
	var hidden []int32
	if own == nil {
		hidden = r.g.Hidden(item)
	}
	var same []int32
	for j, l := range r.labels {
		switch {
		case slices.Contains(hidden, int32(j)), r.without != nil && r.without[j]:
		case l == label:
			same = append(same, int32(j))
		default:
			q.wrong = append(q.wrong, int32(j))
		}
	}
	near := func(a, b int32) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	}
	slices.SortFunc(same, near)
	slices.SortFunc(q.wrong, near)
	if own != nil {
		q.mixed = []mixture{r.alone(own)}
		return q
	}
	q.same = same[:min(mixRows, len(same))]
	for _, j := range same[:min(nearRows, len(same))] {
		q.mixed = append(q.mixed, r.mean([]int32{j}))
	}
	for n := 2; n <= nearRows && n <= len(same); n *= 2 {
		q.mixed = append(q.mixed, r.mean(same[:n]))
	}
	if len(same) > nearRows {
		q.mixed = append(q.mixed, r.mean(same))
	}
	return q
}

// alone is the mixture of one row that is not in the gallery.
func (r *rows) alone(z []float32) mixture {
	m := mixture{seen: make([]float64, r.seen.Cols()), half: kernel.SumSquares(z) / 2}
	last := r.net.Last()
	if last == nil {
		for k, v := range z {
			m.seen[k] = float64(v)
		}
		return m
	}
	for k := range m.seen {
		m.seen[k] = kernel.Dot(last.W[k*len(z):(k+1)*len(z)], z)
	}
	if last.Bias != nil {
		m.offset = kernel.Dot(z, last.Bias)
	}
	return m
}

// mean is the mixture of some rows with equal weights.
func (r *rows) mean(of []int32) mixture {
	m := mixture{seen: make([]float64, r.seen.Cols())}
	n := float64(len(of))
	for _, j := range of {
		for k, v := range r.seen.Row(int(j)) {
			m.seen[k] += float64(v)
		}
		m.offset += r.offset[j]
		m.half += r.half[j]
	}
	for k := range m.seen {
		m.seen[k] /= n
	}
	m.offset, m.half = m.offset/n, m.half/n
	return m
}

// proves reports whether for each wrong row a mixture is nearer, wherever the features
// are. If it fails, the rows before the one at which it does stay proven for boxes within
// this one.
func (r *rows) proves(q *query, v view, at *reach) bool {
	q.vain = 0
	for i := q.proven; i < len(q.wrong); i++ {
		if !v.beats(int(q.wrong[i])) && !r.beats(q, int(q.wrong[i]), at) {
			q.proven = i
			return false
		}
	}
	return true
}

// beats tries the mixtures against row n, and looks for another one.
func (r *rows) beats(q *query, n int, at *reach) bool {
	row := r.seen.Row(n)
	for k := range q.mixed {
		try := (q.first + k) % len(q.mixed)
		m := &q.mixed[try]
		if least(m.seen, row, at)+(m.offset-r.offset[n]) > r.needs(m.half-r.half[n], at) {
			q.first = try
			return true
		}
	}
	if q.vain < mostVain && r.mix(q, n, at) {
		return true
	}
	q.vain++
	return false
}

// least is the smallest value of <a - b, h> for features h.
func least(a []float64, b []float32, at *reach) float64 {
	b, c, r := b[:len(a)], at.c[:len(a)], at.r[:len(a)]
	var s [4]float64
	k := 0
	for ; k+4 <= len(a); k += 4 {
		for j := range 4 {
			d := a[k+j] - float64(b[k+j])
			s[j] += float64(d*c[k+j]) - float64(math.Abs(d)*r[k+j])
		}
	}
	for ; k < len(a); k++ {
		d := a[k] - float64(b[k])
		s[0] += float64(d*c[k]) - float64(math.Abs(d)*r[k])
	}
	if at.ball > 0 {
		square := 0.0
		for k := range a {
			d := a[k] - float64(b[k])
			square += float64(d * d)
		}
		s[0] -= float64(math.Sqrt(square) * (1 + 0x1p-40) * at.ball)
	}
	return s[0] + s[1] + s[2] + s[3]
}
