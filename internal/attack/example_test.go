package attack_test

import (
	"context"
	"fmt"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// stripes are 8 images of 4x4 pixels in two classes, bright and dark.
type stripes struct{}

func (stripes) Len() int             { return 8 }
func (stripes) Shape() (h, w, c int) { return 4, 4, 1 }

func (stripes) Read(i int, dst []float32) error {
	for k := range dst {
		dst[k] = float32(i%2)/2 + float32((i*k)%3)/10
	}
	return nil
}

// Embedding shift (ES) pushes the embeddings of perturbed images away from those of the
// clean ones. Within a ball of 77/255 it reaches farther than within 8/255.
func ExampleRun() {
	model, err := nn.Build(nn.Spec{Name: "linear", Height: 4, Width: 4, Channels: 1, Embedding: 4, Normalize: true}, rng.New(0, "init"))
	if err != nil {
		panic(err)
	}
	images, labels := array.New(8, 4, 4, 1), []int32{0, 1, 0, 1, 0, 1, 0, 1}
	for i := range labels {
		if err := (stripes{}).Read(i, images.Row(i)); err != nil {
			panic(err)
		}
	}
	z := model.Embed(images, nn.Eval)
	x := array.New(z.Shape...)
	copy(x.Data, z.Data)
	gallery, err := retrieval.NewGallery(x, labels)
	if err != nil {
		panic(err)
	}
	var shift []float64
	attacked := 0
	for _, eps := range []float64{8. / 255, 77. / 255} {
		o := attack.Options{Attacks: []string{"ES"}, Variants: []attack.Variant{attack.Fixed}, PGD: adversary.Training()}
		o.PGD.Mode, o.PGD.Eps, o.PGD.Step, o.PGD.Iterations, o.PGD.SkipFinal = nn.Eval, eps, eps/8, 32, false
		r, err := attack.Run(context.Background(), model, stripes{}, gallery, o)
		if err != nil {
			panic(err)
		}
		s := r.Scored[0]
		attacked = len(r.Queries)
		shift = append(shift, s.Mean(s.Adversarial[s.Column("ES:D")], nil))
	}
	fmt.Println(attacked, "images attacked, larger ball, larger shift:", shift[1] > shift[0] && shift[0] > 0)
	// Output: 8 images attacked, larger ball, larger shift: true
}
