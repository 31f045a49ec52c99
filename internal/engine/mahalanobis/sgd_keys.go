package mahalanobis

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"tercet/internal/component"
	"tercet/internal/text"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "sgd", Doc: "stochastic gradient descent on random triplets", Defaults: SGDKeys{Constants: "tight"}})
}

// SGDKeys are the keys of stochastic gradient descent on random triplets, eq. 3.
type SGDKeys struct {
	C         component.Auto `yaml:"c" check:">0" doc:"the step is c/sqrt(steps); auto is the largest one that theory allows, 2/alpha"`
	Steps     component.Auto `yaml:"steps" check:">=1" doc:"triplets drawn, T; auto is the number of training items"`
	PSD       bool           `yaml:"psd" doc:"project w on the positive semidefinite matrices after each step"`
	Constants string         `yaml:"constants" enum:"tight|paper" doc:"smoothness alpha of the limit 2/alpha on the step c/sqrt(steps): 4 B^4, or the paper's 64 B^4"`
}

// Check implements component.Checker.
func (k SGDKeys) Check() []component.Fault {
	if k.Steps.Given && (k.Steps.N != math.Trunc(k.Steps.N) || k.Steps.N > 1e9) {
		return []component.Fault{component.Faultf("steps", "must be auto or a whole number up to 1e9, is %s", component.Number(k.Steps.N))}
	}
	return nil
}

// Restrict implements Restricted. Where steps is auto the limit on c depends on the data.
func (k SGDKeys) Restrict(l Loss, radius float64) []component.Fault {
	if l.Name == Hinge && !k.C.Given {
		return []component.Fault{component.Faultf("c", "auto is 2/alpha, and the hinge has no alpha: it is not smooth; set c to a number")}
	}
	if !k.Steps.Given {
		return nil
	}
	o := k.Options(l, radius, 0, 0)
	if _, _, err := o.Step(nil, l, o.Steps); err != nil {
		return []component.Fault{component.Faultf("c", "%v", err)}
	}
	return nil
}

// Options returns the keys as SGD takes them, for so many items in a ball of that radius.
func (k SGDKeys) Options(l Loss, radius float64, items int, seed uint64) SGDOptions {
	o := SGDOptions{
		C: k.C.N, Steps: items, Seed: seed, PSD: k.PSD, Constants: k.Constants, Radius: radius,
		AllowLarge: l.Name == Hinge, // it has no limit; its c is given
	}
	if k.Steps.Given {
		o.Steps = int(k.Steps.N)
	}
	return o
}

// Plan implements Keys.
func (k SGDKeys) Plan(t Task) (*Risk, int, error) {
	risk, err := NewRisk(t.Problems, t.Loss, Auto)
	if err != nil {
		return nil, 0, &KeyError{"", err}
	}
	o := k.Options(t.Loss, t.Radius, t.Items, t.Seed)
	if _, _, err := o.Step(t.Problems, t.Loss, o.Steps); err != nil {
		return nil, 0, &KeyError{"c", err}
	}
	return risk, o.Steps, nil
}

// Fit implements Keys: it descends on random triplets (eq. 3).
func (k SGDKeys) Fit(ctx context.Context, t Task) ([]float64, Reached, error) {
	risk, steps, err := k.Plan(t)
	if err != nil {
		return nil, Reached{}, err
	}
	start, grad := make([]float64, risk.Dim()), make([]float64, risk.Dim()) // SGD begins at w = 0
	value := risk.ValueGrad(start, grad)
	norm := floats.Norm(grad, 2)
	if value-value != 0 || norm-norm != 0 { // NaN or infinite
		return nil, Reached{}, &KeyError{"zeta", fmt.Errorf("the risk at w = 0 is %v: numbers overflow; lower metric.zeta or model.radius", value)}
	}
	t.Watch(0, value, norm)
	o := k.Options(t.Loss, t.Radius, t.Items, t.Seed)
	var theta []float64
	if len(t.Problems) == 1 { // with the triplets of DrawIndices, as measurements have them
		theta, err = SGD(ctx, t.Problems[0], t.Loss, nil, o)
	} else {
		theta, err = sgdOver(ctx, t.Problems, t.Loss, o)
	}
	if errors.Is(err, ErrInput) {
		err = &KeyError{"c", err}
	}
	if err != nil {
		return nil, Reached{}, err
	}
	_, eta, err := o.Step(t.Problems, t.Loss, steps)
	out := Reached{Risk: risk.ValueGrad(theta, grad), Iterations: steps, Eta: eta}
	out.Objective, out.GradNorm = out.Risk, floats.Norm(grad, 2)
	out.Words = fmt.Sprintf("sgd: %s of %.4g, risk %.6f", text.Plural(steps, "step", "steps"), eta, out.Risk)
	return theta, out, err
}
