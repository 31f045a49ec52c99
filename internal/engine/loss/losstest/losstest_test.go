package losstest

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

// broken is the contrastive loss with a mistake.
type broken struct {
	loss.ContrastiveOptions
	spoil  func(z *array.Array, t *loss.Tuples, grad *array.Array, r *loss.Result, err *error)
	margin float64
	sup    float64 // 0: right
	far    bool    // another pair rule
}

func (b broken) New() (loss.Objective, error) {
	l, err := b.ContrastiveOptions.New()
	return &brokenLoss{l, b}, err
}

func (b broken) Summed() loss.Options {
	if b.sup != 0 || b.spoil == nil {
		return b.ContrastiveOptions.Summed()
	}
	return b.ContrastiveOptions // a mean
}

func (b broken) Supremum(unit bool) (float64, bool) {
	v, ok := b.ContrastiveOptions.Supremum(unit)
	return v + b.sup, ok
}

func (b broken) PairRule() loss.PairRule {
	r := b.ContrastiveOptions.PairRule()
	if b.far {
		r.At++
	}
	return r
}

type brokenLoss struct {
	loss.Objective
	b broken
}

func (l *brokenLoss) Threshold() float64 { return l.Objective.(loss.Thresholder).Threshold() }
func (l *brokenLoss) Margin() float64    { return l.b.margin }

func (l *brokenLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	r, err := l.Objective.Eval(z, t, grad)
	if l.b.spoil != nil {
		l.b.spoil(z, t, grad, &r, &err)
	}
	return r, err
}

// recorder is a test that keeps its failures to itself.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failures runs Check and returns what it says, lines joined.
func failures(t *testing.T, o loss.Options) string {
	r := &recorder{TB: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		Check(r, o)
	}()
	<-done
	return strings.Join(r.said, "\n")
}

func TestCheckFindsMistakes(t *testing.T) {
	plain := loss.ContrastiveDefaults()
	if said := failures(t, plain); said != "" {
		t.Fatalf("the contrastive loss: %s", said)
	}
	sink := []byte(nil)
	for want, b := range map[string]broken{
		"differences give": {spoil: func(_ *array.Array, _ *loss.Tuples, grad *array.Array, _ *loss.Result, _ *error) {
			if grad != nil && len(grad.Data) > 0 {
				grad.Data[0] += 0.1
			}
		}},
		"with a gradient": {spoil: func(_ *array.Array, _ *loss.Tuples, grad *array.Array, r *loss.Result, _ *error) {
			if grad != nil {
				r.Loss++
			}
		}},
		"shuffled": {spoil: func(_ *array.Array, t *loss.Tuples, _ *array.Array, r *loss.Result, _ *error) {
			if len(t.Pairs) > 0 {
				r.Loss += float64(t.Pairs[0].I - t.Pairs[0].J)
			}
		}},
		"error <nil>, want": {spoil: func(_ *array.Array, _ *loss.Tuples, _ *array.Array, _ *loss.Result, err *error) { *err = nil }},
		"threads": {spoil: func(_ *array.Array, _ *loss.Tuples, _ *array.Array, r *loss.Result, _ *error) {
			r.Positive += float64(par.Threads())
		}},
		"allocations a batch": {spoil: func(_ *array.Array, _ *loss.Tuples, _ *array.Array, _ *loss.Result, _ *error) {
			sink = make([]byte, 100)
		}},
		"no tuples": {spoil: func(_ *array.Array, t *loss.Tuples, _ *array.Array, r *loss.Result, _ *error) {
			if len(t.Pairs) == 0 {
				r.Loss = 1
			}
		}},
		"tuples are active": {spoil: func(_ *array.Array, _ *loss.Tuples, _ *array.Array, r *loss.Result, _ *error) {
			r.Active = r.Tuples + 1
		}},
		"its terms add up": {spoil: func(*array.Array, *loss.Tuples, *array.Array, *loss.Result, *error) {}},
		"margin NaN":       {margin: math.NaN()},
		"the supremum":     {sup: 1},
		"threshold 0.5":    {far: true},
	} {
		b.ContrastiveOptions = plain
		if said := failures(t, b); !strings.Contains(said, want) {
			t.Errorf("want %q, got %s", want, said)
		}
	}
	_ = sink
	wrong := plain
	wrong.Margin = -1
	if said := failures(t, wrong); !strings.Contains(said, "margin must be >0") {
		t.Errorf("bad options: %s", said)
	}
}

func TestVariants(t *testing.T) {
	v := Variants(loss.RobustDefaults())
	// 1 + distances 2, forms 4, weights 2, rescale 2, reducers 3; each with wrong triplets.
	if len(v) != 2*(1+2+4+2+2+3) {
		t.Errorf("%d variants", len(v))
	}
	if o := v["form odd, triplets wrong"].(loss.RobustOptions); o.Form != loss.RobustOdd || o.W1 != 0.7 || o.Margin != 0.2 {
		t.Errorf("%+v", o)
	}
	if o := v["rescale true"].(loss.RobustOptions); !o.Rescale || o.W1 != 1 {
		t.Errorf("%+v", o)
	}
}
