package nn_test

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// The MLP of the DIBS paper has 237,400 parameters at width 200. Its embeddings have
// length 1.
func ExampleBuild() {
	m, err := nn.Build(nn.Spec{Name: "mlp", Height: 28, Width: 28, Channels: 1, Units: 200, Normalize: true}, rng.New(0, "init"))
	if err != nil {
		panic(err)
	}
	images := array.New(2, 28, 28, 1) // (B, H, W, C)
	for i := range images.Data {
		images.Data[i] = float32(i%7) / 7
	}
	z := m.Embed(images, nn.Eval) // (B, D)
	square := 0.0
	for _, v := range z.Row(1) {
		square += float64(v) * float64(v)
	}
	fmt.Printf("%d parameters, embeddings %v of length %.3f\n", m.ParamCount(), z.Shape, square)
	// Output: 237400 parameters, embeddings [2 200] of length 1.000
}
