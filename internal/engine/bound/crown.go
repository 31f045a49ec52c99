package bound

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Crown bounds linear functions of features from below by going backward through the
// network (CROWN-IBP; Zhang et al., ICLR 2020, arXiv 1906.06316; bounds of pre-activations
// are those of Net). With A the coefficients of a step's output, each step gives
// coefficients of its input and a constant, so that the function is never lower:
//
//	y = W x + b:           A W, and A b
//	y = max(x, 0) in l, u: a slope for each number, and the least value of
//	                       A max(x, 0) - slope x, which lies at l, 0 or u
//	y = the largest of x:  A at the number with the largest l, if A > 0 or if that is the
//	                       largest everywhere, else A times the largest u
//
// At the images the least value over the box is exact. Everything holds for whatever
// float32 gives as slopes. What products lose is taken off, see the loss of a step.
type Crown struct {
	net   *Net
	steps []backward
	lost  []*lossy
	a     [2]*array.Array
	lo    []float64
	hi    []float64
	value []float64
}

// Slope is the rule for numbers whose sign is not known and which count positively.
type Slope int

// The rules: the slope is 1 where the interval is more positive than not, and else 0; or
// it is always 0. The second is the better one for networks trained with intervals.
const (
	Adaptive Slope = iota
	Zero
)

// backward is a step on n functions: a (n, out) to their coefficients (n, in), and what
// they lose or gain added to value.
type backward interface {
	pull(n int, row int, s Slope, a, to []float32, value []float64)
}

// NewCrown returns the bounds of a network whose intervals are n's, or an error wrapping
// ErrNone that names a step without.
func NewCrown(n *Net) (*Crown, error) {
	c := &Crown{net: n}
	for i := range n.steps {
		s := &n.steps[i]
		none := func(why string) error {
			return fmt.Errorf("%w backward: layer %s (%s) %s", ErrNone, s.op.Name, s.op.Kind, why)
		}
		if s.in[0] != i-1 || len(s.in) > 1 {
			return nil, none("is not in a chain")
		}
		before := n.box(s.in[0])
		switch do := s.do.(type) {
		case *product:
			l := &lossy{box: before, product: do, out: s.size}
			c.lost = append(c.lost, l)
			c.steps = append(c.steps, l)
		case *scaling:
			if do.reverse {
				return nil, none("turns the channels around")
			}
			c.steps = append(c.steps, &scaled{before, do})
		case relu:
			c.steps = append(c.steps, rectified{before})
		case *window:
			if do.mean || do.sh < do.kh || do.sw < do.kw {
				return nil, none("has windows that overlap, or takes means")
			}
			c.steps = append(c.steps, &largest{before, do})
		case *frame:
			c.steps = append(c.steps, &inside{do})
		case same:
			c.steps = append(c.steps, passed{})
		default:
			return nil, none("has none")
		}
	}
	return c, nil
}

// At readies c for row of the last call of Features.
func (c *Crown) At(row int) {
	for _, l := range c.lost {
		l.measure(row)
	}
	c.lo, c.hi = grow(c.lo, c.net.size), grow(c.hi, c.net.size)
	for k := range c.lo {
		c.lo[k], c.hi[k] = c.net.images.Bounds(row, k)
	}
}

// Lower returns lower bounds of the functions a (n, K) of the features of a row, for which
// At was called. The result is valid until the next call.
func (c *Crown) Lower(row int, a *array.Array, s Slope) []float64 {
	n := a.Rows()
	c.value = grow(c.value, n)
	clear(c.value)
	for i := len(c.steps) - 1; i >= 0; i-- {
		size := c.net.size
		if i > 0 {
			size = c.net.steps[i-1].size
		}
		to := &c.a[i%2]
		*to = rows(*to, n, size)
		c.steps[i].pull(n, row, s, a.Data, (*to).Data, c.value)
		a = *to
	}
	par.Each(n, 1, func(j int) {
		sum, size := 0.0, 0.0
		for k, v := range a.Row(j) {
			w := float64(v)
			sum += min(float64(w*c.lo[k]), float64(w*c.hi[k]))
			size += math.Abs(w)
		}
		c.value[j] += sum - float64(0x1p-40*size)
	})
	return c.value
}

// least covers what products lose that are too small for float32, times x: tiny for each of
// 10^5 numbers.
const least = 1e-20

// lossy is a product. With m = |W| |x| + |bias| of the largest magnitudes of x, the network
// gives W x + bias up to gamma m. The coefficients A W are products too; what they lose,
// times x, is below gamma |A| |W| |x|.
type lossy struct {
	box *Box
	*product
	out  int
	x, y []float32
	m    []float64
}

// measure finds m for a row.
func (l *lossy) measure(row int) {
	c, r := l.box.C.Row(row), l.box.R.Row(row)
	if l.x == nil {
		l.x, l.y, l.m = make([]float32, len(c)), make([]float32, l.out), make([]float64, l.out)
	}
	for i := range c {
		l.x[i] = up(math.Abs(float64(c[i])) + float64(r[i]))
	}
	l.times(1, l.x, l.abs, nil, l.y)
	for i, v := range l.y {
		l.m[i] = float64(float64(v)*(1+float64(2*l.gamma))) + tiny
		if l.bias != nil {
			l.m[i] += math.Abs(float64(l.bias[i%len(l.bias)]))
		}
	}
}

func (l *lossy) pull(n, _ int, _ Slope, a, to []float32, value []float64) {
	l.back(n, a, l.w, to)
	lost := (l.gamma + l.backGamma) * (1 + 0x1p-20)
	par.Each(n, 1, func(j int) {
		gain, size := 0.0, 0.0
		for k, v := range a[j*l.out : (j+1)*l.out] {
			if v == 0 {
				continue
			}
			if l.bias != nil {
				gain += float64(float64(v) * float64(l.bias[k%len(l.bias)]))
			}
			size += float64(math.Abs(float64(v)) * l.m[k])
		}
		value[j] += gain - float64((lost+0x1p-40)*size) - least
	})
}

// scaled is a batch norm, or a mean and a standard deviation.
type scaled struct {
	box *Box
	*scaling
}

func (l *scaled) pull(n, row int, _ Slope, a, to []float32, value []float64) {
	c, r := l.box.C.Row(row), l.box.R.Row(row)
	lost, ch := Gamma(0)+2*unit, len(l.mean)
	par.Each(n, 1, func(j int) {
		for k := range c {
			v, i := float64(a[j*len(c)+k]), k%ch
			to[j*len(c)+k] = float32(v * l.scale[i])
			size := float64(math.Abs(l.scale[i])*(math.Abs(float64(c[k]))+float64(r[k])+math.Abs(l.mean[i]))) + math.Abs(l.shift[i])
			value[j] += float64(v*(l.shift[i]-float64(l.mean[i]*l.scale[i]))) - float64(lost*math.Abs(v)*size) - tiny
		}
	})
}

// rectified is max(x, 0).
type rectified struct{ box *Box }

func (l rectified) pull(n, row int, s Slope, a, to []float32, value []float64) {
	size := l.box.C.Cols()
	par.Each(n, 1, func(j int) {
		sum, lost := 0.0, 0.0 // of the least values
		for k := range size {
			lo, hi := l.box.Bounds(row, k)
			v := a[j*size+k]
			slope, low := v, 0.0
			switch {
			case v == 0 || lo >= 0:
			case hi <= 0:
				slope = 0
			default:
				if v < 0 {
					slope = float32(float64(v) * hi / (hi - lo))
					low = min(-float64(float64(slope)*lo), float64((float64(v)-float64(slope))*hi), 0)
				} else if s == Zero || hi <= -lo {
					slope = 0
				}
			}
			to[j*size+k] = slope
			sum += low
			lost += math.Abs(low)
		}
		value[j] += sum - float64(0x1p-40*lost)
	})
}

// largest is max pooling whose windows do not overlap.
type largest struct {
	box *Box
	*window
}

func (l *largest) pull(n, row int, _ Slope, a, to []float32, value []float64) {
	in, out := l.h*l.w*l.c, l.oh*l.ow*l.c
	par.Each(n, 1, func(j int) {
		clear(to[j*in : (j+1)*in])
		for k, v := range a[j*out : (j+1)*out] {
			if v == 0 {
				continue
			}
			best, sure, most := l.winner(row, k)
			if v > 0 || sure {
				to[j*in+best] = v
			} else {
				value[j] += float64(float64(v)*most) - float64(0x1p-40*math.Abs(float64(v)*most))
			}
		}
	})
}

// winner returns the place with the largest lower end of window k, whether it is the
// largest everywhere, and the largest upper end.
func (l *largest) winner(row, k int) (best int, sure bool, most float64) {
	ch, x, y := k%l.c, k/l.c%l.ow, k/l.c/l.ow
	low, other := math.Inf(-1), math.Inf(-1) // the largest upper end of another one
	most = math.Inf(-1)
	for i := max(0, y*l.sh-l.ph); i < min(l.h, y*l.sh-l.ph+l.kh); i++ {
		for j := max(0, x*l.sw-l.pw); j < min(l.w, x*l.sw-l.pw+l.kw); j++ {
			at := (i*l.w+j)*l.c + ch
			lo, hi := l.box.Bounds(row, at)
			if lo > low {
				if !math.IsInf(low, -1) {
					_, was := l.box.Bounds(row, best)
					other = max(other, was)
				}
				low, best = lo, at
			} else {
				other = max(other, hi)
			}
			most = max(most, hi)
		}
	}
	return best, low >= other, most
}

// inside is a frame of zeros.
type inside struct{ *frame }

func (l *inside) pull(n, _ int, _ Slope, a, to []float32, _ []float64) {
	out := l.oh * l.ow * l.c
	for i := range n * l.h {
		img, y := i/l.h, i%l.h
		from := img*out + ((l.top+y)*l.ow+l.left)*l.c
		copy(to[i*l.w*l.c:(i+1)*l.w*l.c], a[from:])
	}
}

// passed changes the shape alone.
type passed struct{}

func (passed) pull(_, _ int, _ Slope, a, to []float32, _ []float64) { copy(to, a) }
