package kernel

import (
	"fmt"
	"os"
	"sync/atomic"
)

// Algorithm is a way to compute a convolution or one of its gradients.
type Algorithm uint8

// The algorithms. Winograd computes m x m outputs of a k x k kernel with stride 1
// from (m+k-1) x (m+k-1) multiplications per pair of channels instead of k*k*m*m
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016).
// Its errors are stated in winograd.go.
const (
	Direct    Algorithm = iota // implicit matrix products: exact products, float32 sums
	Winograd2                  // F(2x2,3x3) and F(2x2,5x5): 2.25 and 2.8 times fewer multiplications
	Winograd4                  // F(4x4,3x3) and F(4x4,5x5): 4 and 6.25 times fewer, larger errors
)

var algorithmNames = [...]string{Direct: "direct", Winograd2: "winograd2", Winograd4: "winograd4"}

// String returns the name used in messages and results.
func (a Algorithm) String() string {
	if int(a) >= len(algorithmNames) {
		return fmt.Sprintf("algorithm(%d)", int(a))
	}
	return algorithmNames[a]
}

// ConvPlan is a convolution with an algorithm for each direction. It is made
// once for a layer, by Conv.Plan or Conv.MeasurePlan.
type ConvPlan struct {
	Conv
	Fwd, Input, Weights Algorithm

	kept *[2]keptWeights // of Forward and BackwardInput; nil: KeepWeights was never called
}

// keptWeights are transformed weights that serve several calls.
type keptWeights struct {
	keep, made bool
	u          []float32
}

// KeepWeights says whether Forward gets the same weights in all calls from here on, and
// BackwardInput, too. Then each transforms them in its first call alone.
func (p *ConvPlan) KeepWeights(keep bool) {
	if p.kept == nil {
		if !keep {
			return
		}
		p.kept = new([2]keptWeights)
	}
	for i := range p.kept {
		p.kept[i].keep, p.kept[i].made = keep, false
	}
}

// keeps returns what is kept of one of the two directions, or nil.
func (p *ConvPlan) keeps(direction int) *keptWeights {
	if p.kept == nil || !p.kept[direction].keep {
		return nil
	}
	return &p.kept[direction]
}

// EnvWinograd is the environment variable that says how Plan chooses: "auto"
// (or unset) by a rule in the shape and the kernel level, the same everywhere;
// "measure" by timing each algorithm, so that bits may differ from run to run
// and from machine to machine; "off" takes Direct for everything.
const EnvWinograd = "TERCET_WINOGRAD"

type planMode uint8

const (
	planAuto planMode = iota
	planMeasure
	planOff
)

var planning planMode

func init() {
	var err error
	if planning, err = parsePlanMode(os.Getenv(EnvWinograd)); err != nil {
		errStart = fmt.Errorf("environment variable %s: %w", EnvWinograd, err)
	}
}

func parsePlanMode(name string) (planMode, error) {
	switch name {
	case "", "auto":
		return planAuto, nil
	case "measure":
		return planMeasure, nil
	case "off":
		return planOff, nil
	}
	return planAuto, fmt.Errorf("unknown choice %q (valid: auto, measure, off)", name)
}

// Setting names what the last bits of results depend on: the level in use and,
// where it is not the rule, how convolutions are planned, as in
// "avx512, winograd off".
func Setting() string {
	s := Current().String()
	switch planning {
	case planMeasure:
		s += ", winograd measure"
	case planOff:
		s += ", winograd off"
	}
	if on := device.Load(); on != nil {
		s += ", networks on " + *on
	}
	return s
}

var device atomic.Pointer[string]

// On says that networks of this process compute on a device, which Setting names from here
// on.
func On(name string) { device.Store(&name) }

// Measures reports whether plans are measured: then they are the same in every
// process only by luck.
func Measures() bool { return planning == planMeasure }

// Plan chooses the algorithms as EnvWinograd says; by the rule also where a layer
// is too large to be measured.
func (g Conv) Plan() ConvPlan {
	switch planning {
	case planMeasure:
		if n := g.measuredBatch(); n > 0 {
			return g.MeasurePlan(n)
		}
	case planOff:
		return ConvPlan{Conv: g}
	}
	return g.ruledPlan(Current())
}

// Forward computes y from x, w and bias (OutC numbers, or nil for none), then
// max(y, 0) where relu; a NaN stays one.
func (p *ConvPlan) Forward(n int, x, w, bias []float32, relu bool, y []float32) {
	if p.Fwd == Direct {
		p.Conv.forward(n, x, w, bias, relu, y)
		return
	}
	p.Conv.winogradForward(p.Fwd, n, x, w, p.keeps(0), bias, relu, y)
}

// BackwardInput overwrites dx with the gradient with respect to the input.
func (p *ConvPlan) BackwardInput(n int, dy, w, dx []float32) {
	if p.Input == Direct {
		p.Conv.BackwardInput(n, dy, w, dx)
		return
	}
	p.Conv.winogradInput(p.Input, n, dy, w, p.keeps(1), dx)
}

// BackwardWeights adds the gradients with respect to the weights to dw and,
// where db is not nil, those with respect to the bias to db.
func (p *ConvPlan) BackwardWeights(n int, x, dy, dw, db []float32) {
	if p.Weights == Direct {
		p.Conv.BackwardWeights(n, x, dy, dw, db)
		return
	}
	p.Conv.winogradWeights(p.Weights, n, x, dy, dw)
	p.Conv.checkBias(db)
	if db != nil {
		oh, ow := p.Conv.Out()
		AddColumnSums(n*oh*ow, p.OutC, dy, db)
	}
}

// algorithms returns those that can compute g.
func (g Conv) algorithms() []Algorithm {
	all := []Algorithm{Direct}
	for _, a := range []Algorithm{Winograd2, Winograd4} {
		if g.winogradFits(a) {
			all = append(all, a)
		}
	}
	return all
}
