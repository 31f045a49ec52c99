package certify

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/stat"
)

const (
	// averaging is the number of draws that mixtures and the closest rows are chosen by.
	// They are not used again.
	averaging = 1000
	// closest is the number of wrong rows whose variances are measured.
	closest = 64
	// margined is taken off each margin, in units of the length of a difference of rows, for
	// what float32 loses.
	margined = 1e-5
)

// Means certifies queries by the mean embedding under Gaussian noise, g(x) = E f(x + noise):
// the nearest row of g, not of the network. Embeddings have length 1. For a difference v of
// a mixture of right rows and a wrong one, phi(x) = E (1 + <f, v> / |v|) / 2 is in [0, 1],
// and quantile(phi) moves by at most |x - x'| / sigma (Salman et al., NeurIPS 2019, lemma
// 2). So the wrong row stays behind within
//
//	sigma (quantile(phi) - quantile((1 + c/|v|) / 2)),   c = (mean |g_p|^2 - |g_n|^2) / 2.
//
// phi is bounded from below by draws: of the closest rows with their variance (Maurer and
// Pontil, COLT 2009), of the others by Hoeffding's inequality, all together right with
// probability 1 - alpha.
func Means(ctx context.Context, model nn.Embedder, images attack.Source, g *retrieval.Gallery, o VoteOptions) (*Result, error) {
	search, err := worst.NewSearch(cmp.Or(o.Gallery, worst.Full), g)
	if err != nil {
		return nil, err
	}
	q := len(o.Queries)
	res := &Result{Rows: search.Len(), Right: make([]bool, q), Radii: make([]float64, q), TotalVariation: make([]float64, q), Lipschitz: make([]float64, q)}
	for range o.Eps {
		res.Certified = append(res.Certified, make([]bool, q))
	}
	m := &averager{ballot: newBallot(model, images, g, o), search: search}
	m.stream = "certify.mean"
	m.rows, m.labels, m.without = search.Rows()
	for i, item := range o.Queries {
		right, r, err := m.query(ctx, item)
		if err != nil {
			return nil, err
		}
		res.Right[i] = right
		res.Radii[i], res.TotalVariation[i], res.Lipschitz[i] = r.normal, r.variation, r.lipschitz
		for k, eps := range o.Eps {
			res.Certified[k][i] = right && r.normal > 0 && r.normal >= eps
		}
		if o.Progress != nil {
			o.Progress(i+1, q)
		}
	}
	res.Passes = m.passes
	return res, nil
}

// radii are those that three theorems give for one lower bound of the mean.
type radii struct{ normal, variation, lipschitz float64 }

// radiiOf returns them in units of sigma, for phi at least p and its threshold t.
func radiiOf(p, t float64) radii {
	h := 2 * (p - t) // of <g, v>/|v| above its threshold
	if !(h > 0) {
		return radii{}
	}
	return radii{
		normal:    stat.NormalQuantile(p) - stat.NormalQuantile(t),
		variation: 2 * stat.NormalQuantile(min(0.5+float64(h/4), 1)),
		lipschitz: h * math.Sqrt(math.Pi/2),
	}
}

// averager draws means.
type averager struct {
	*ballot
	search  *worst.Search
	rows    *array.Array
	labels  []int32
	without []bool
}

// rival is a wrong row with the mixture that beats it by most.
type rival struct {
	row    int32
	of     int     // mixture
	length float64 // |v|
	c      float64 // threshold of <g, v>
	margin float64 // (<g, v> - c) / |v| of the draws that it was chosen by
}

// blend is a weighted mean of right rows.
type blend struct {
	z    []float64
	half float64
}

// query certifies an image.
func (m *averager) query(ctx context.Context, item int) (bool, radii, error) {
	if err := m.images.Read(item, m.clean); err != nil {
		return false, radii{}, err
	}
	first, err := m.sum(ctx, item, 0, averaging, nil, nil)
	if err != nil {
		return false, radii{}, err
	}
	one := array.New(1, len(first))
	for k, v := range first {
		one.Data[k] = float32(v / averaging)
	}
	if !m.search.Right(one, []int{item})[0] {
		return false, radii{}, nil
	}
	blends, rivals := m.rivals(item, one.Data)
	near := rivals[:min(closest, len(rivals))]
	of := array.New(len(near), len(first))
	for i, r := range near {
		for k, v := range m.rows.Row(int(r.row)) {
			of.Row(i)[k] = float32((blends[r.of].z[k] - float64(v)) / r.length)
		}
	}
	stats := make([]moments, len(near))
	total, err := m.sum(ctx, item, averaging, m.o.Samples, of, stats)
	if err != nil {
		return false, radii{}, err
	}
	n := float64(m.o.Samples)
	least := radii{math.Inf(1), math.Inf(1), math.Inf(1)}
	for i, r := range rivals {
		var p float64
		if i < len(near) {
			p = stats[i].lower(n, m.o.Alpha/(2*float64(len(near))))
		} else {
			product := 0.0
			for k, v := range m.rows.Row(int(r.row)) {
				product += float64(total[k] / n * (blends[r.of].z[k] - float64(v)))
			}
			p = float64((1+product/r.length)/2) - math.Sqrt(math.Log(2*float64(len(rivals)-len(near))/m.o.Alpha)/(2*n))
		}
		got := radiiOf(p-margined, (1+r.c/r.length)/2)
		least = radii{min(least.normal, got.normal), min(least.variation, got.variation), min(least.lipschitz, got.lipschitz)}
	}
	s := m.o.Sigma
	return true, radii{s * least.normal, s * least.variation, s * least.lipschitz}, nil
}

// moments are sums of numbers in [0, 1] and of their squares.
type moments struct{ sum, squares float64 }

// lower bounds the mean of n of them with probability 1 - delta.
func (m moments) lower(n, delta float64) float64 {
	mean := m.sum / n
	variance := max(0, (m.squares-float64(n*mean*mean))/(n-1))
	l := math.Log(2 / delta)
	return mean - math.Sqrt(2*variance*l/n) - 7*l/(3*(n-1))
}

// sum adds the embeddings of n draws, and for each row of of the moments of its products.
func (m *averager) sum(ctx context.Context, item, first, n int, of *array.Array, stats []moments) ([]float64, error) {
	total := make([]float64, m.rows.Cols())
	var products []float64
	err := m.draw(ctx, item, first, n, func(z *array.Array) {
		rows := z.Rows()
		for i := range rows {
			for k, v := range z.Row(i) {
				total[k] += float64(v)
			}
		}
		if len(stats) == 0 {
			return
		}
		products = slices.Grow(products[:0], rows*len(stats))[:rows*len(stats)]
		par.Each(rows, 4, func(i int) {
			for j := range stats {
				products[i*len(stats)+j] = min(1, max(0, (1+kernel.Dot(of.Row(j), z.Row(i)))/2))
			}
		})
		for i, y := range products {
			s := &stats[i%len(stats)]
			s.sum += y
			s.squares += float64(y * y)
		}
	})
	return total, err
}

// rivals returns mixtures of right rows, and each wrong row with the one that beats it by
// most where the mean is z, smallest margins first.
func (m *averager) rivals(item int, z []float32) ([]blend, []rival) {
	label, hidden := m.g.Label(item), m.g.Hidden(item)
	own := m.search.Own(item)
	var same, wrong []int32
	for j, l := range m.labels {
		switch {
		case own == nil && slices.Contains(hidden, int32(j)), m.without != nil && m.without[j]:
		case l == label:
			same = append(same, int32(j))
		default:
			wrong = append(wrong, int32(j))
		}
	}
	blends := m.blends(own, same, z)
	list := make([]rival, len(wrong))
	par.Each(len(wrong), 64, func(i int) {
		list[i] = m.rival(wrong[i], blends, z)
	})
	slices.SortFunc(list, func(a, b rival) int { return cmp.Or(cmp.Compare(a.margin, b.margin), cmp.Compare(a.row, b.row)) })
	return blends, list
}

// blends are the nearest 4 right rows, their mean and the mean of all; of prototypes the
// one of the query's label.
func (m *averager) blends(own []float32, same []int32, z []float32) (out []blend) {
	of := func(rows ...[]float32) {
		b := blend{z: make([]float64, len(z))}
		for _, r := range rows {
			for k, v := range r {
				b.z[k] += float64(v) / float64(len(rows))
			}
			b.half += float64(kernel.SumSquares(r)/2) / float64(len(rows))
		}
		out = append(out, b)
	}
	if own != nil {
		of(own)
		return out
	}
	far := make(map[int32]float64, len(same))
	for _, j := range same {
		far[j] = kernel.SquaredDistanceLanes(z, m.rows.Row(int(j)))
	}
	slices.SortFunc(same, func(a, b int32) int { return cmp.Or(cmp.Compare(far[a], far[b]), cmp.Compare(a, b)) })
	var rows [][]float32
	for _, j := range same {
		rows = append(rows, m.rows.Row(int(j)))
	}
	four := rows[:min(4, len(rows))]
	for _, r := range four {
		of(r)
	}
	of(four...)
	of(rows...)
	return out
}

func (m *averager) rival(row int32, blends []blend, z []float32) rival {
	r := m.rows.Row(int(row))
	half := float64(kernel.SumSquares(r) / 2)
	best := rival{row: row, length: 1, margin: math.Inf(-1)}
	for i, b := range blends {
		product, square := 0.0, 0.0
		for k, v := range b.z {
			d := v - float64(r[k])
			product += float64(d * float64(z[k]))
			square += float64(d * d)
		}
		if length := math.Sqrt(square); length > 0 {
			c := b.half - half
			if margin := (product - c) / length; margin > best.margin {
				best = rival{row, i, length, c, margin}
			}
		}
	}
	return best
}
