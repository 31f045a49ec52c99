package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
)

// ersJob is the attacks of the suite ers, each a part, on a batch of queries of a
// gallery. After each repetition of a part its network passes alone are timed, so
// that both meet the same machine.
type ersJob struct {
	spec                      nn.Spec
	gallery, queries, classes int
	steps                     int
	convolutions              []layerShape
}

func ersJobs() []Job {
	spec := nn.Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1, Normalize: true}
	full := ersJob{spec, 10_000, 256, 10, 32, layersOf("c2f2")}
	quick := ersJob{spec, 2_000, 64, 10, 8, layersOf("c2f2")}
	return []Job{{"ers", full.what(), quick.what(), func(o Options) ([]task, error) {
		if o.Quick {
			return quick.prepare()
		}
		return full.prepare()
	}}}
}

func (e ersJob) what() string {
	return fmt.Sprintf("C2F2 under 9 attacks of %d steps, both variants, %d of %d images", e.steps, e.queries, e.gallery)
}

// prepare draws the images, embeds them, and makes a part of each attack.
func (e ersJob) prepare() ([]task, error) {
	model, images, g, err := e.embedded()
	if err != nil {
		return nil, err
	}
	profile, err := attack.ProfileNamed("rob28")
	if err != nil {
		return nil, err
	}
	profile.Iterations = e.steps
	suite, err := attack.Suite("ers")
	if err != nil {
		return nil, err
	}
	network := newNetworkTime(model, images, e.queries)
	var tasks []task
	for _, name := range suite {
		p := &ersPart{network: network, options: attack.Options{Attacks: []string{name}, PGD: profile.PGD(), Queries: e.queries, Together: e.queries}}
		direct, executed := e.flops(model)
		tasks = append(tasks, task{
			name: name, images: e.queries, direct: direct, executed: executed, least: 1,
			run: func(ctx context.Context, tick func() bool) error {
				return repeat(func() (err error) {
					p.result, err = attack.Run(ctx, model, stored{images}, g, p.options)
					return err
				})(ctx, tick)
			},
			after:    p.passes,
			results:  p.visit,
			describe: p.describe,
		})
	}
	return tasks, nil
}

// embedded is the network, and the gallery that it embeds.
func (e ersJob) embedded() (*nn.Model, *array.Array, *retrieval.Gallery, error) {
	model, err := nn.Build(e.spec, rng.New(0, "init"))
	if err != nil {
		return nil, nil, nil, err
	}
	images, labels := e.images()
	gallery := array.New(e.gallery, model.Dim())
	for lo := 0; lo < e.gallery; lo += attack.DefaultBatch {
		hi := min(lo+attack.DefaultBatch, e.gallery)
		copy(gallery.Data[lo*model.Dim():], model.Embed(images.Slice(lo, hi), nn.Eval).Data)
	}
	g, err := retrieval.NewGallery(gallery, labels)
	return model, images, g, err
}

// images draws the gallery as training jobs draw theirs: item i shows the pattern
// of class i modulo classes.
func (e ersJob) images() (*array.Array, []int32) {
	r := rng.New(0, "bench/ers")
	t := training{spec: e.spec, contrast: 0.4}
	x, labels := array.New(e.gallery, e.spec.Height, e.spec.Width, e.spec.Channels), make([]int32, e.gallery)
	var patterns [][]float32
	for range e.classes {
		patterns = append(patterns, pattern(r, e.spec.Channels))
	}
	for i := range e.gallery {
		labels[i] = int32(i % e.classes)
		t.draw(x.Row(i), patterns[labels[i]], r)
	}
	return x, labels
}

// flops counts the products of the network's passes for one image of each query,
// crafted once for both variants: where they differ, more is done.
func (e ersJob) flops(model *nn.Model) (direct, executed float64) {
	passes := float64(2*e.steps + 2) // the clean one and the last one have no gradient
	for _, s := range e.convolutions {
		p, n := s.conv.Plan(), float64(s.times)
		direct += passes * n * convFLOPs(s.conv)
		executed += n * (float64(e.steps+2)*executedFLOPs(s.conv, p.Fwd) + float64(e.steps)*executedFLOPs(s.conv, p.Input))
	}
	for _, l := range model.Describe() {
		if l.Kind == "Linear" {
			direct, executed = direct+passes*float64(l.FLOPs), executed+passes*float64(l.FLOPs)
		}
	}
	return direct * float64(e.queries), executed * float64(e.queries)
}

// stored is a source of images in memory.
type stored struct{ x *array.Array }

func (s stored) Len() int             { return s.x.Rows() }
func (s stored) Shape() (h, w, c int) { return s.x.Shape[1], s.x.Shape[2], s.x.Shape[3] }
func (s stored) Read(i int, dst []float32) error {
	copy(dst, s.x.Row(i))
	return nil
}

// networkTime measures passes of a network.
type networkTime struct {
	model *nn.Model
	x     *array.Array // at least a batch of images
	dz    *array.Array // (B, D) a batch of gradients
}

func newNetworkTime(model *nn.Model, x *array.Array, batch int) *networkTime {
	n := &networkTime{model, x, array.New(batch, model.Dim())}
	r := rng.New(0, "bench/ers/gradient")
	for i := range n.dz.Data {
		n.dz.Data[i] = float32(r.NormFloat64())
	}
	return n
}

// passes does so many image passes in batches, and returns the time.
func (n *networkTime) passes(forward, backward int64) float64 {
	start := time.Now()
	for forward > 0 {
		b := min(forward, int64(n.dz.Rows()))
		n.model.Embed(n.x.Slice(0, int(b)), nn.Eval)
		forward -= b
		if backward >= b {
			n.model.Backward(n.dz.Slice(0, int(b)), nn.Input)
			backward -= b
		}
	}
	return time.Since(start).Seconds()
}

// ersPart is one attack and what was measured of it.
type ersPart struct {
	options attack.Options
	network *networkTime
	result  *attack.Result
	pure    []float64 // seconds of the passes of each repetition
}

// passes times the passes of the last repetition without anything else.
func (p *ersPart) passes() {
	c := p.result.Cost
	p.pure = append(p.pure, p.network.passes(c.Forward, c.Backward))
}

// visit gives the scores of all queries.
func (p *ersPart) visit(visit func(string, []float32)) {
	for _, s := range p.result.Scored {
		for k, key := range s.Keys {
			out := make([]float32, len(s.Adversarial[k]))
			for i, v := range s.Adversarial[k] {
				out[i] = float32(v)
			}
			visit(string(s.Variant)+" "+key, out)
		}
	}
}

// describe adds the median time of the passes.
func (p *ersPart) describe(r *printed.BenchResult) {
	r.NetworkSeconds += times(slices.Clone(p.pure)).median()
}
