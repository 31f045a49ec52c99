package adversary

import (
	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "noise", Doc: "Gaussian noise on each pixel, for votes under noise", Defaults: NoiseKeys{Std: 0.25}})
}

// NoiseKeys add Gaussian noise to images.
type NoiseKeys struct {
	Std float64 `yaml:"std" check:">0,<=10" doc:"standard deviation, pixels in [0, 1]; that of the vote to be certified"`
}

// New implements Keys.
func (k NoiseKeys) New(Setting) (Defense, error) {
	return &Noise{trait: trait{"noise", false}, std: k.Std}, nil
}

// Noise trains on images with Gaussian noise added to each pixel, not clipped to [0, 1]
// (Cohen et al., ICML 2019, section 3): the training that randomized smoothing needs. An
// image that occurs twice in a batch gets different noise.
type Noise struct {
	trait
	std   float64
	x     *array.Array
	batch Batch
}

// Craft implements Defense.
func (d *Noise) Craft(_ nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	if err := checkBatch("noise", in); err != nil {
		return nil, record.Cost{}, err
	}
	if d.x == nil {
		d.x = array.New(in.Images.Shape...)
	}
	d.x.SetRows(in.Images.Rows())
	par.For(in.Images.Rows(), 1, func(lo, hi int) {
		var s rng.Stream
		for i := lo; i < hi; i++ {
			s.Reset(seed, "noise-defense", step, uint64(i))
			to := d.x.Row(i)
			for k, v := range in.Images.Row(i) {
				to[k] = float32(float64(v) + float64(d.std*s.NormFloat64()))
			}
		}
	})
	d.batch = *in
	d.batch.Images, d.batch.Clean = d.x, nil
	return &d.batch, record.Cost{}, nil
}
