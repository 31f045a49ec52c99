package nn

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/rng"
)

// Direct kernels compute the same network with other roundings.
func TestComputeDirectly(t *testing.T) {
	t.Parallel()
	spec := Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1, Embedding: 16, Normalize: true}
	var z [2]*array.Array
	x, r := array.New(3, 28, 28, 1), rng.New(1, "pixels")
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	for k := range z {
		m, err := Build(spec, rng.New(0, "weights"))
		if err != nil {
			t.Fatal(err)
		}
		if k == 1 {
			m.ComputeDirectly()
			walk(m.net, func(l Layer) {
				if c, ok := l.(*Conv2D); ok && (c.plan.Fwd != kernel.Direct || c.plan.Input != kernel.Direct || c.plan.OutC != c.outC) {
					t.Errorf("%s: %+v", c.name, c.plan)
				}
			})
		}
		z[k] = m.Embed(x, Eval).Clone()
	}
	for i, v := range z[0].Data {
		if math.Abs(float64(v-z[1].Data[i])) > 1e-5 {
			t.Fatalf("number %d is %v, directly %v", i, v, z[1].Data[i])
		}
	}
}
