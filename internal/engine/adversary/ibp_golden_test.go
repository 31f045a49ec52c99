package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// The loss of interval bounds and its gradients by all parameters, of networks with strides
// and with pooling, are those of PyTorch in float64: testdata/scripts/ibp_golden.py.
func TestIBPAgainstPyTorch(t *testing.T) {
	t.Parallel()
	var doc struct {
		Cases []struct {
			Net                string
			Normalize          bool
			Eps, Margin, Worst float64
			Grads              map[string][]float64
			Along              map[string]float64
		}
	}
	testutil.ReadJSON(t, "testdata/ibp.json", &doc)
	if len(doc.Cases) != 8 {
		t.Fatalf("%d cases", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		t.Run(fmt.Sprintf("%s, normalize %t, eps %v", c.Net, c.Normalize, c.Eps), func(t *testing.T) {
			side := map[string]int{"small": 12, "lenet": 16}[c.Net]
			m, err := nn.Build(nn.Spec{Name: c.Net, Height: side, Width: side, Channels: 1, Embedding: 5, Normalize: c.Normalize}, rng.New(1, "ibp"))
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range m.Params() {
				scale := 0.2
				if shape := p.Value.Shape; len(shape) > 1 {
					scale = 3 / math.Sqrt(float64(len(p.Value.Data)/shape[len(shape)-1]))
				}
				for i, v := range goldenFormula(len(p.Value.Data), 100+k) {
					p.Value.Data[i] = float32((v - 0.5) * scale)
				}
			}
			b := &Batch{Images: array.New(6, side, side, 1), Labels: []int32{0, 0, 1, 1, 2, 2}, IDs: ids(6)}
			for i := range 6 {
				for k, v := range goldenFormula(side*side, 60+i) {
					b.Images.Row(i)[k] = float32(min(max(1.2*v-0.1, 0), 1))
				}
			}
			b.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 2, P: 3, N: 0}, {A: 2, P: 3, N: 5}, {A: 5, P: 4, N: 2}, {A: 1, P: 0, N: 4}}}
			const kappa = 0.5
			value, _ := penalty(t, m, b, IBPKeys{Eps: c.Eps, Kappa: kappa, Margin: c.Margin})
			if got := value/kappa + 3; math.Abs(got-c.Worst) > 1e-5*(1+c.Worst) { // penalty observes a loss of 3
				t.Errorf("the mean is %v, want %v", got, c.Worst)
			}
			for k, p := range m.Params() {
				along, length := 0.0, 0.0
				for i, v := range goldenFormula(len(p.Grad.Data), 300+k) {
					along += float64(p.Grad.Data[i]) / kappa * (v - 0.5)
					length += math.Pow(float64(p.Grad.Data[i])/kappa, 2)
				}
				if want, ok := c.Along[p.Name]; !ok || math.Abs(along-want) > 1e-5*(1+math.Sqrt(length)) {
					t.Errorf("gradient of %s: %v along the formula, want %v", p.Name, along, want)
				}
				list, ok := c.Grads[p.Name]
				for i, want := range list {
					if got := float64(p.Grad.Data[i]) / kappa; math.Abs(got-want) > 1e-5*(1+math.Sqrt(length)) {
						t.Fatalf("gradient of %s[%d] is %v, want %v", p.Name, i, got, want)
					}
				}
				if !ok && len(p.Grad.Data) <= 500 {
					t.Errorf("no gradient of %s in the file", p.Name)
				}
			}
		})
	}
}
