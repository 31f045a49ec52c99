package nn

import (
	"fmt"
	"math"
	"strings"

	"tercet/internal/names"
	"tercet/internal/rng"
)

// DefaultInit is the scheme of an empty name.
const DefaultInit = "pytorch"

// initializer draws one weight; bias is the half-width of the uniform law of
// biases, 0 for zero biases.
type initializer struct {
	name   string
	normal bool
	// spread returns the standard deviation of the normal law, or the half-width
	// of the uniform one.
	spread func(fanIn, fanOut float64) float64
	bias   func(fanIn float64) float64
}

func noBias(float64) float64 { return 0 }

// initializers by name. fan_in and fan_out are the numbers of inputs and outputs
// of a unit: KH*KW*C and KH*KW*OutC in a convolution.
var initializers = []initializer{
	// PyTorch 1.x nn.Linear and nn.Conv2d: kaiming_uniform with a = sqrt(5), which
	// is U(+-1/sqrt(fan_in)), for weights and biases alike.
	{"pytorch", false, func(in, _ float64) float64 { return 1 / math.Sqrt(in) }, func(in float64) float64 { return 1 / math.Sqrt(in) }},
	// Glorot & Bengio 2010, eq. 16: U(+-sqrt(6/(fan_in+fan_out))), zero biases.
	{"xavier-uniform", false, func(in, out float64) float64 { return math.Sqrt(6 / (in + out)) }, noBias},
	// The same variance: N(0, 2/(fan_in+fan_out)), zero biases.
	{"xavier-normal", true, func(in, out float64) float64 { return math.Sqrt(2 / (in + out)) }, noBias},
	// He et al. 2015: U(+-sqrt(6/fan_in)), zero biases.
	{"he-uniform", false, func(in, _ float64) float64 { return math.Sqrt(6 / in) }, noBias},
	// He et al. 2015, eq. 10: N(0, 2/fan_in), zero biases.
	{"he-normal", true, func(in, _ float64) float64 { return math.Sqrt(2 / in) }, noBias},
}

// initNames lists the initialization schemes.
func initNames() []string {
	list := make([]string, len(initializers))
	for i, s := range initializers {
		list[i] = s.name
	}
	return list
}

// Initialize draws all weights and biases by the named scheme (empty: pytorch)
// from r, in the order of params: weights of two or more axes (..., in, out), and
// the bias that follows each. Batch norm becomes weight 1, bias 0, running mean
// 0, running variance 1. Other buffers stay as they are. With a nil r, weights
// stay as they are too and biases are 0: all will be copied from elsewhere.
func Initialize(params []*Param, scheme string, r *rng.Stream) error {
	if scheme == "" {
		scheme = DefaultInit
	}
	var s *initializer
	for i := range initializers {
		if initializers[i].name == scheme {
			s = &initializers[i]
		}
	}
	if s == nil {
		return unknown("initializer", scheme, initNames())
	}
	owner, fanIn := "", 0.0 // of the last weight matrix
	for _, p := range params {
		shape, data := p.Value.Shape, p.Value.Data
		switch {
		case p.Trained() && len(shape) >= 2:
			out := shape[len(shape)-1]
			fanIn = float64(len(data) / out)
			fanOut := float64(len(data) / shape[len(shape)-2])
			owner = strings.TrimSuffix(p.Name, "weight")
			w := s.spread(fanIn, fanOut)
			for i := range data {
				if r == nil {
					break
				} else if s.normal {
					data[i] = float32(w * r.NormFloat64())
				} else {
					data[i] = float32(r.Uniform(-w, w))
				}
			}
		case p.Trained() && owner != "" && p.Name == owner+"bias":
			w := s.bias(fanIn)
			for i := range data {
				data[i] = 0
				if w > 0 && r != nil {
					data[i] = float32(r.Uniform(-w, w))
				}
			}
		case strings.HasSuffix(p.Name, ".weight"), strings.HasSuffix(p.Name, ".running_var"):
			p.fill(1)
		case strings.HasSuffix(p.Name, ".bias"), strings.HasSuffix(p.Name, ".running_mean"):
			p.fill(0)
		case !p.Trained(): // set when the layer was built
		default:
			return fmt.Errorf("initializer %s: no rule for parameter %s of shape %v", scheme, p.Name, shape)
		}
	}
	return nil
}

// unknown says that there is no such name, and which one is closest.
func unknown(what, name string, list []string) error {
	if c := names.Closest(name, list); c != "" {
		return fmt.Errorf("unknown %s %q; did you mean %q? valid: %s", what, name, c, strings.Join(list, ", "))
	}
	return fmt.Errorf("unknown %s %q; valid: %s", what, name, strings.Join(list, ", "))
}
