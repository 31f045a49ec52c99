package attacktest

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// images is a set of images in memory.
type images struct{ x *array.Array }

func (s images) Len() int             { return s.x.Rows() }
func (s images) Shape() (h, w, c int) { return s.x.Shape[1], s.x.Shape[2], s.x.Shape[3] }
func (s images) Read(i int, dst []float32) error {
	copy(dst, s.x.Row(i))
	return nil
}

// attacked is a network with the images and the gallery that attacks meet.
type attacked struct {
	model *nn.Model
	set   images
	g     *retrieval.Gallery
	err   error
}

// victim is made once: 400 images of four classes, some of their pixels at the ends
// of the range.
var victim = sync.OnceValue(func() attacked {
	m, err := nn.Build(nn.Spec{Name: "mlp", Height: 5, Width: 4, Channels: 1, Units: 16, Embedding: dim, Normalize: true}, rng.New(1, "init"))
	if err != nil {
		return attacked{err: err}
	}
	r := rng.New(2, "images")
	x, label := array.New(items, 5, 4, 1), make([]int32, items)
	for i := range items {
		label[i] = int32(i % labels)
		for k := range x.Row(i) {
			v := r.Uniform(-0.1, 0.6)
			if k%labels == i%labels {
				v += 0.5
			}
			x.Row(i)[k] = float32(min(1, max(0, v)))
		}
	}
	g, err := retrieval.NewGallery(m.Embed(x, nn.Eval).Clone(), label)
	return attacked{m, images{x}, g, err}
})

// checkCrafting runs the attack on a network: images stay within eps of the clean
// ones and in [0, 1], some of them change, and by whatever batches they are crafted
// the result is the same.
func checkCrafting(t *testing.T, name string) {
	v := victim()
	if v.err != nil {
		t.Fatal(v.err)
	}
	const eps = 0.1
	want := ""
	for _, together := range []int{12, 5} {
		r, err := attack.Run(context.Background(), v.model, v.set, v.g, attack.Options{
			Attacks: []string{name}, PGD: attack.Profile{Name: "tiny", Eps: eps, Step: 0.04, Iterations: 4}.PGD(),
			Method: options, Queries: 12, Seed: 3, Together: together, Pictures: 12, PictureAttacks: []string{name},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range r.Pictures {
			inBall(t, p, eps)
			got += fmt.Sprintf("%v %x %x\n", p.Targets, p.Adversarial.Data, p.Embedding.Data)
		}
		for _, s := range r.Scored {
			got += fmt.Sprintf("%x %x\n", s.Clean, s.Adversarial)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("batches of %d give other bits", together)
		}
	}
}

// inBall checks the images of one variant.
func inBall(t *testing.T, p *attack.Pictures, eps float64) {
	t.Helper()
	changed := false
	for k, v := range p.Adversarial.Data {
		off := math.Abs(float64(v) - float64(p.Clean.Data[k]))
		if off > eps+1e-6 || v < 0 || v > 1 {
			t.Fatalf("%s: pixel %d is %v, clean %v: out of the ball of %v or of [0, 1]", p.Variant, k, v, p.Clean.Data[k], eps)
		}
		changed = changed || off > 0
	}
	if !changed {
		t.Errorf("%s: no image is changed", p.Variant)
	}
}
