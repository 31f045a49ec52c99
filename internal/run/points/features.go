package points

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster/principal"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/wire"
)

// widestImage is the number of numbers of an image up to which all of them can be
// kept: w has half their square.
const widestImage = 1024

// insideBall keeps the farthest training image off the ball's edge by more than
// float32 rounds, so that it is inside with any kernels.
const insideBall = 1 - 1e-5

// Features are points (n, d), row-major, and their labels.
type Features struct {
	X       []float64
	N, D    int
	Labels  []int32
	Classes []string
}

// fitFeatures fits the frozen map of cfg's mahalanobis model to the images of ds:
// they are centered, projected on their first principal components, divided by their
// standard deviations where the config says so, and scaled to the ball of its
// radius. It returns the model, whose metric is Euclid's, and the features of ds as
// the model's own float32 map gives them. Labels play no part.
func fitFeatures(ctx context.Context, cfg *config.Config, ds data.Dataset) (*nn.Model, *Features, error) {
	fitted, ok := cfg.Model.Options.(nn.Fitted)
	if !ok {
		return nil, nil, fmt.Errorf("%w: model %s is trained, not fitted", data.ErrUnfit, cfg.Model.Name)
	}
	o := fitted.Features()
	raw, err := embed.Pixels(ctx, ds)
	if err != nil {
		return nil, nil, err
	}
	m, err := wire.BuildModel(cfg, ds)
	if err != nil {
		return nil, nil, wire.InConfig("model", err)
	}
	if err := m.SetMetric(nil); err != nil {
		return nil, nil, err
	}
	mean, components, scale, err := axes(ctx, raw, o)
	if err != nil {
		return nil, nil, err
	}
	far := 0.0
	// The first round measures, the second scales; others come where rounding has put
	// a point back outside.
	for round, factor := 0, 1.0; round < 8; round++ {
		for r := range scale {
			scale[r] *= factor
		}
		if err := m.SetProjection(mean, components, scale); err != nil {
			return nil, nil, err
		}
		z, err := embed.Batches(ctx, m, ds, cfg.Eval.Batch, func(int, int) {})
		if err != nil {
			return nil, nil, err
		}
		if i, ok := kernel.AllFinite(z.Data); !ok {
			return nil, nil, fmt.Errorf("%w: feature %d of %s is %v", data.ErrUnfit, i%z.Cols(), data.ItemName(ds, i/z.Cols()), z.Data[i])
		}
		if far = longest(z); far == 0 {
			return nil, nil, fmt.Errorf("%w: all %d training items are the same", data.ErrUnfit, ds.Len())
		}
		if round > 0 && far <= o.Radius {
			return m, Of(z, ds), nil
		}
		factor = o.Radius / far * insideBall
	}
	return nil, nil, fmt.Errorf("model.radius: %v cannot be kept in float32: the farthest image is at %v", o.Radius, far)
}

// Of widens z, the features of the items of ds.
func Of(z *array.Array, ds data.Dataset) *Features {
	f := &Features{X: make([]float64, len(z.Data)), N: z.Rows(), D: z.Cols(), Labels: ds.Labels(), Classes: ds.Classes()}
	for i, v := range z.Data {
		f.X[i] = float64(v)
	}
	return f
}

// axes returns the mean of raw's rows, their principal components (nil for none)
// and the scale of each.
func axes(ctx context.Context, raw *array.Array, o nn.MahalanobisKeys) (mean, components, scale []float64, err error) {
	n, d := raw.Rows(), raw.Cols()
	if o.Dims > d {
		return nil, nil, nil, &config.Error{Key: "model.dims", Msg: fmt.Sprintf("asks for %d principal components of images of %d numbers: set it to %d or less", o.Dims, d, d)}
	}
	if o.Dims == 0 {
		if d > widestImage {
			return nil, nil, nil, &config.Error{Key: "model.dims", Msg: fmt.Sprintf("is 0, which keeps all %d numbers of an image, and w would have %d: set it to so many principal components, such as 8", d, d*(d+1)/2)}
		}
		mean, scale = make([]float64, d), make([]float64, d)
		for i := range n {
			for j, v := range raw.Row(i) {
				mean[j] += float64(v)
			}
		}
		for j := range mean {
			mean[j] /= float64(n)
			scale[j] = 1
		}
		return mean, nil, scale, nil
	}
	pca, err := principal.Components(ctx, raw.Data, n, d, o.Dims)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, nil, err
		}
		return nil, nil, nil, fmt.Errorf("%w: model.dims: %w", data.ErrUnfit, err)
	}
	scale = make([]float64, o.Dims)
	for r, v := range pca.Variance {
		scale[r] = 1
		if !o.Whiten {
			continue
		}
		if v <= 1e-10*pca.Variance[0] {
			return nil, nil, nil, fmt.Errorf("%w: model.whiten: the training images have no variance along principal component %d: set model.dims to %d or less", data.ErrUnfit, r+1, r)
		}
		scale[r] = 1 / math.Sqrt(v)
	}
	return pca.Mean, pca.Components, scale, nil
}

// longest returns the greatest Euclidean length of a row.
func longest(z *array.Array) float64 {
	most := 0.0
	for i := range z.Rows() {
		most = max(most, kernel.SumSquares(z.Row(i)))
	}
	return math.Sqrt(most)
}

// Euclidean returns the network of a fitted metric with the metric of Euclid.
func Euclidean(m *nn.Model) (*nn.Model, error) {
	out, err := nn.Build(m.Spec(), nil)
	if err != nil {
		return nil, err
	}
	for i, p := range m.Params() {
		copy(out.Params()[i].Value.Data, p.Value.Data)
	}
	return out, out.SetMetric(nil)
}
