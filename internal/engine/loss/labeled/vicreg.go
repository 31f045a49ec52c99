package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "vicreg", Doc: "two views of an image together, numbers of an embedding spread and uncorrelated; without labels (Bardes et al.)", Defaults: VICRegDefaults()})
}

// VICRegOptions are the keys of a VICRegLoss.
type VICRegOptions struct {
	Similarity float64 `yaml:"similarity" check:">=0,<=100000" doc:"weight of the squared distances of two views"`
	Variance   float64 `yaml:"variance" check:">=0,<=100000" doc:"weight of the hinge that keeps standard deviations above 1"`
	Covariance float64 `yaml:"covariance" check:">=0,<=100000" doc:"weight of the squared covariances"`
	Variant    Variant `yaml:"variant" enum:"paper|published" doc:"published divides distances by the dimension and the hinge by 2, as the authors' code does"`
}

// VICRegDefaults returns the weights of the paper, 25, 25 and 1.
func VICRegDefaults() VICRegOptions {
	return VICRegOptions{Similarity: 25, Variance: 25, Covariance: 1, Variant: Paper}
}

// New implements Options.
func (o VICRegOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("vicreg", o, &VICRegLoss{o: o})
}

// Takes implements Options.
func (VICRegOptions) Takes() loss.Kind { return loss.Labels }

// Ordered implements Ordered: the first row of an image is its first view.
func (VICRegOptions) Ordered() {}

// Fit implements Fitter.
func (VICRegOptions) Fit(s loss.Setting) (out []component.Fault) {
	if s.Views < 2 {
		out = append(out, component.Faultf("name", "vicreg compares two views of each image: set batch.views: 2"))
	}
	if s.Normalized {
		out = append(out, component.Faultf("name", "vicreg spreads numbers to a standard deviation of 1, which embeddings of length 1 cannot have: set model.normalize: false"))
	}
	if s.Collapse {
		out = append(out, component.Faultf("name", "vicreg does not see a shift of all embeddings, which brings their cosines near 1 without a collapse: set train.collapse.enabled: false"))
	}
	return out
}

// VICRegLoss is, of two views Z and Z' of n images in D numbers,
//
//	similarity 1/n sum_i |z_i - z'_i|^2 + variance (v(Z) + v(Z')) + covariance (c(Z) + c(Z'))
//
// where v = 1/D sum_k max(0, 1 - sqrt(C_kk + 1e-4)), c = 1/D sum_{k != l} C_kl^2, and C the
// covariances over the images, divided by n - 1 (Bardes et al., "VICReg:
// Variance-Invariance-Covariance Regularization for Self-Supervised Learning", ICLR 2022, eq. 1
// to 6). Fewer than two images with two views have no loss. It serves one goroutine at a time.
type VICRegLoss struct {
	o     VICRegOptions
	pairs [][2]int // rows of the views of an image
	alone []int32  // rows whose second view is still to come
	x     []float32
	c     []float32 // (D, D) covariances, then their slopes; or (n, n) products of images
	turn  []float32
	means []float64
	// Sums of the squares of columns of x, and what their diagonal adds to the gradient.
	squares []float64
	own     []float32
	parts   []float64 // of the value, by rows of c
	hinge   float64   // weight of a number's standard deviation
}

// Margin returns 0: the loss has none.
func (l *VICRegLoss) Margin() float64 { return 0 }

// Eval implements Objective on t.Items. The tuples are images; Positive of the result is the
// mean distance of two views.
func (l *VICRegLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	rows, err := checkLabeled(z, t.Labels, grad, 0)
	if rows == 0 || err != nil {
		return loss.Result{}, err
	}
	if err := checkItems(t.Items, rows); err != nil {
		return loss.Result{}, err
	}
	if grad != nil {
		clear(grad.Data)
	}
	l.pair(t.Items)
	n := len(l.pairs)
	if n < 2 {
		return loss.Result{}, nil
	}
	res := loss.Result{Tuples: n, Active: n}
	res.Loss = l.together(z, grad, &res)
	for view := range 2 {
		res.Loss += l.spread(z, grad, view)
	}
	if grad != nil {
		if i, ok := kernel.AllFinite(grad.Data); !ok {
			return loss.Result{}, tooLarge(i / z.Shape[1])
		}
	}
	if math.IsInf(res.Loss, 0) || math.IsNaN(res.Loss) {
		return loss.Result{}, tooLarge(0)
	}
	return res, nil
}

// pair finds the rows of the views of each image.
func (l *VICRegLoss) pair(items []uint64) {
	l.pairs, l.alone = l.pairs[:0], l.alone[:0]
next:
	for i, item := range items {
		for k, first := range l.alone {
			if items[first] == item {
				l.pairs = append(l.pairs, [2]int{int(first), i})
				l.alone = append(l.alone[:k], l.alone[k+1:]...)
				continue next
			}
		}
		l.alone = append(l.alone, int32(i))
	}
}

// together adds the term of the distances of views.
func (l *VICRegLoss) together(z, grad *array.Array, res *loss.Result) float64 {
	weight := l.o.Similarity / float64(len(l.pairs))
	if l.o.Variant == Published {
		weight /= float64(z.Shape[1])
	}
	value := 0.0
	for _, p := range l.pairs {
		x, y := z.Row(p[0]), z.Row(p[1])
		square := kernel.SquaredDistance(x, y)
		value += float64(weight * square)
		res.Positive += math.Sqrt(square) / float64(len(l.pairs))
		if grad == nil {
			continue
		}
		dx, dy := grad.Row(p[0]), grad.Row(p[1])
		for k, v := range x {
			d := float32(2 * weight * (float64(v) - float64(y[k])))
			dx[k] += d
			dy[k] -= d
		}
	}
	return value
}

// spread adds the terms of one view.
func (l *VICRegLoss) spread(z, grad *array.Array, view int) float64 {
	n, d := len(l.pairs), z.Shape[1]
	l.center(z, view)
	l.hinge = l.o.Variance / float64(d)
	if l.o.Variant == Published {
		l.hinge /= 2
	}
	l.turn = loss.Grow(l.turn, n*d)
	value, ok := 0.0, false
	if n < d {
		value, ok = l.byImages(grad != nil)
	}
	if !ok {
		value = l.byNumbers(grad != nil)
	}
	if grad != nil {
		for i, p := range l.pairs {
			kernel.Add(grad.Row(p[view]), l.turn[i*d:][:d], grad.Row(p[view]))
		}
	}
	return value
}

// byNumbers takes the covariances of all numbers, (D, D). It returns the terms of the view, and
// sets turn.
func (l *VICRegLoss) byNumbers(gradient bool) (value float64) {
	n, d := len(l.pairs), len(l.means)
	l.c, l.parts = loss.Grow(l.c, d*d), loss.Grow(l.parts, d)
	kernel.Syrk(false, true, d, n, 1/float32(n-1), l.x, d, 0, l.c, d)
	kernel.Mirror(d, l.c, d)
	par.Do(d, 8, l)
	for _, v := range l.parts {
		value += v
	}
	if gradient {
		// dLoss/dx = 2/(n-1) x S for symmetric slopes S, which the means' part leaves as it is:
		// its columns sum to 0.
		kernel.Gemm(false, false, n, d, d, 2/float32(n-1), l.x, d, l.c, d, 0, l.turn, d)
	}
	return value
}

// byImages does the same by the products of images, (n, n), which are fewer if n < D: the
// squares of both sum to the same. It reports false where the covariances outside the diagonal
// are so little of that sum that their difference would cancel.
func (l *VICRegLoss) byImages(gradient bool) (value float64, ok bool) {
	n, d := len(l.pairs), len(l.means)
	l.c, l.own = loss.Grow(l.c, n*n), loss.Grow(l.own, d)
	kernel.Gram(n, d, l.x, d, l.c, n)
	each := 1 / float64(n-1)
	var all, diagonal float64
	for i := range n {
		all += kernel.SumSquares(l.c[i*n:][:n])
	}
	all = float64(all * (each * each))
	weight := l.o.Covariance / float64(d)
	for k, squares := range l.squares {
		own := float64(squares * each)
		diagonal += float64(own * own)
		slope := float64(-2 * weight * own) // takes the diagonal out of K x
		if root := math.Sqrt(own + 1e-4); root < 1 {
			value += float64(l.hinge * (1 - root))
			slope -= l.hinge / (2 * root)
		}
		l.own[k] = float32(2 * each * slope)
	}
	if !(all-diagonal > all/8) {
		return 0, false
	}
	if gradient {
		kernel.Gemm(false, false, n, d, n, float32(4*weight*each*each), l.c, n, l.x, d, 0, l.turn, d)
		par.Do(n, max(1, 16384/d), (*vicregDiagonal)(l))
	}
	return value + float64(weight*(all-diagonal)), true
}

// vicregDiagonal adds the slopes of the variances to turn.
type vicregDiagonal VICRegLoss

// Run does rows [lo, hi).
func (l *vicregDiagonal) Run(lo, hi int) {
	d := len(l.own)
	for i := lo; i < hi; i++ {
		x, turn := l.x[i*d:][:d], l.turn[i*d:][:d]
		for k, s := range l.own {
			turn[k] += float32(s * x[k])
		}
	}
}

// Run makes slopes of rows [lo, hi) of the covariances.
func (l *VICRegLoss) Run(lo, hi int) {
	d := len(l.parts)
	weight := l.o.Covariance / float64(d)
	for k := lo; k < hi; k++ {
		row := l.c[k*d:][:d]
		root := math.Sqrt(float64(row[k]) + 1e-4)
		row[k] = 0
		l.parts[k] = float64(weight * kernel.SumSquares(row))
		kernel.ScaleRow(float32(2*weight), row)
		if root < 1 {
			l.parts[k] += float64(l.hinge * (1 - root))
			row[k] = float32(-l.hinge / (2 * root))
		}
	}
}

// center sets x to the rows of a view without their means, and squares to the sums of the
// squares of its columns.
func (l *VICRegLoss) center(z *array.Array, view int) {
	n, d := len(l.pairs), z.Shape[1]
	l.x, l.means, l.squares = loss.Grow(l.x, n*d), loss.Grow(l.means, d), loss.Grow(l.squares, d)
	clear(l.means)
	clear(l.squares)
	for _, p := range l.pairs {
		kernel.AddScaled(1/float64(n), z.Row(p[view]), l.means)
	}
	squares := l.squares[:d]
	for i, p := range l.pairs {
		x, means := l.x[i*d:][:d], l.means[:d]
		for k, v := range z.Row(p[view])[:d] {
			c := float64(v) - means[k]
			x[k] = float32(c)
			squares[k] += float64(c * c)
		}
	}
}
