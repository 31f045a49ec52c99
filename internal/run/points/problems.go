package points

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	spelling "tercet/internal/names"
	"tercet/internal/wire"
)

// Problems are the samples that a metric is learned from or evaluated by: one class
// against the rest, or each class in turn.
type Problems struct {
	List    []*mahalanobis.Problem
	Names   []string // of the positives' classes
	Skipped int      // classes of one item, which have no triplet
}

// NewProblems makes the problems of f: of the class of that name, or of each where it
// is empty. radius is the B of the ball that the points must lie in, 0 for none.
func NewProblems(f *Features, positive string, radius float64) (*Problems, error) {
	sorted, starts := f.ByClass()
	of := func(c int) (*mahalanobis.Problem, error) {
		lo, hi := starts[c]*f.D, starts[c+1]*f.D
		// The points stand there twice, so that those of other classes follow those of
		// each class.
		p, err := mahalanobis.NewProblem(sorted[lo:hi:hi], sorted[hi:len(sorted)/2+lo], f.D, radius)
		if err != nil {
			return nil, fmt.Errorf("%w: class %s against the rest: %w", data.ErrUnfit, f.Classes[c], err)
		}
		return p, nil
	}
	ps := &Problems{}
	if positive != "" {
		c := slices.Index(f.Classes, positive)
		if c < 0 || starts[c] == starts[c+1] {
			return nil, UnknownClass(positive, f, starts)
		}
		p, err := of(c)
		if err != nil {
			return nil, err
		}
		ps.List, ps.Names = append(ps.List, p), append(ps.Names, positive)
		return ps, nil
	}
	if k := data.Distinct(f.Labels); k < 2 {
		return nil, fmt.Errorf("%w: all %d items are of one class: a triplet needs a negative of another (n- >= 1)", data.ErrUnfit, f.N)
	}
	for c := range f.Classes {
		switch starts[c+1] - starts[c] {
		case 0:
			continue
		case 1:
			ps.Skipped++
			continue
		}
		p, err := of(c)
		if err != nil {
			return nil, err
		}
		ps.List, ps.Names = append(ps.List, p), append(ps.Names, f.Classes[c])
	}
	if len(ps.List) == 0 {
		return nil, fmt.Errorf("%w: each of the %d items is alone in its class: a triplet needs two positives (n+ >= 2)", data.ErrUnfit, f.N)
	}
	return ps, nil
}

// ByClass returns the points class by class, twice over, and where each class starts.
func (f *Features) ByClass() (sorted []float64, starts []int) {
	starts = make([]int, len(f.Classes)+1)
	for _, l := range f.Labels {
		starts[l+1]++
	}
	for c := range f.Classes {
		starts[c+1] += starts[c]
	}
	at := slices.Clone(starts)
	sorted = make([]float64, 2*f.N*f.D)
	for i, l := range f.Labels {
		copy(sorted[at[l]*f.D:], f.X[i*f.D:(i+1)*f.D])
		at[l]++
	}
	copy(sorted[f.N*f.D:], sorted[:f.N*f.D])
	return sorted, starts
}

// UnknownClass is the error of a class that the data do not have.
func UnknownClass(name string, f *Features, starts []int) error {
	var valid []string
	for c, class := range f.Classes {
		if starts[c+1] > starts[c] {
			valid = append(valid, class)
		}
	}
	hint := ""
	if near := spelling.Closest(name, valid); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	more := ""
	if n := len(valid); n > 20 {
		valid, more = valid[:20], fmt.Sprintf(" and %d more", n-20)
	}
	return &config.Error{Key: "metric.positive", Msg: fmt.Sprintf("no training item is of class %q; %sclasses: %s%s", name, hint, strings.Join(valid, ", "), more)}
}

// Triplets returns the number of triplets of all problems.
func (ps *Problems) Triplets() float64 {
	sum := 0.0
	for _, p := range ps.List {
		sum += p.Triplets()
	}
	return sum
}

// ZeroOne returns the share of triplets whose negative is not farther than the
// positive by h_w, the mean over the problems.
func (ps *Problems) ZeroOne(theta []float64) float64 {
	sum := 0.0
	for _, p := range ps.List {
		sum += mahalanobis.ZeroOne(p, theta, 0)
	}
	return sum / float64(len(ps.List))
}

// withinRidge is added to the within-class covariance, as a share of its mean
// eigenvalue, so that classes of few items have an inverse.
const withinRidge = 1e-3

// Whitened returns svec of the inverse of the positives' covariance within their
// classes, the metric of linear discriminant analysis; nil where all items of a class
// are the same.
func (ps *Problems) Whitened() []float64 {
	d := ps.List[0].D
	within := mat.NewSymDense(d, nil)
	count := 0
	a := make([]float64, d)
	for _, p := range ps.List {
		n := p.NPos()
		mean := make([]float64, d)
		for i, v := range p.Positive {
			mean[i%d] += v / float64(n)
		}
		for i := range n {
			for k, v := range p.Positive[i*d : (i+1)*d] {
				a[k] = v - mean[k]
			}
			within.SymRankOne(within, 1, mat.NewVecDense(d, a))
		}
		count += n
	}
	within.ScaleSym(1/float64(count), within)
	ridge := withinRidge * mat.Trace(within) / float64(d)
	for k := range d {
		within.SetSym(k, k, within.At(k, k)+ridge)
	}
	var chol mat.Cholesky
	if ridge == 0 || !chol.Factorize(within) {
		return nil
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil
	}
	w := make([]float64, d*d)
	for r := range d {
		for c := range d {
			w[r*d+c] = inverse.At(r, c)
		}
	}
	return mahalanobis.Svec(w, d)
}

// Prepared is what a config's algorithm begins with.
type Prepared struct {
	Model    *nn.Model // whose metric is Euclid's
	Problems *Problems
	Task     mahalanobis.Task // without its Watch
}

// Prepare fits the features of cfg's mahalanobis model to the images of ds and makes the
// problems that its metric is learned from.
//
// Errors: data.ErrUnfit for images that leave nothing to learn, a *config.Error for keys
// that do not fit them.
func Prepare(ctx context.Context, cfg *config.Config, ds data.Dataset) (*Prepared, error) {
	m, f, err := fitFeatures(ctx, cfg, ds)
	if err != nil {
		return nil, err
	}
	radius := cfg.Radius()
	ps, err := NewProblems(f, cfg.Metric.OneClass(), radius)
	if err != nil {
		return nil, err
	}
	l, err := mahalanobis.NewLoss(cfg.Metric.Loss, cfg.Metric.Zeta, cfg.Metric.HuberDelta)
	if err != nil {
		return nil, wire.InConfig("metric.loss", err)
	}
	return &Prepared{m, ps, mahalanobis.Task{Problems: ps.List, Loss: l, Radius: radius, Items: f.N, Seed: cfg.Seed}}, nil
}
