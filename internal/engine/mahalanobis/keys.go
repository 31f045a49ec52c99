package mahalanobis

import (
	"math"

	"tercet/internal/component"
)

// Family is the algorithms that a config can name.
var Family = component.NewFamily[Keys]("rrm", "sgd")

func init() {
	Family.Register(component.Component[Keys]{Name: "rrm", Doc: "regularized risk minimization over all triplets", Defaults: RRMKeys{Sigma: 1e-3, Method: "auto", Sums: "auto"}})
	Family.Register(component.Component[Keys]{Name: "sgd", Doc: "stochastic gradient descent on random triplets", Defaults: SGDKeys{Constants: "tight"}})
}

// Keys are the keys of an algorithm in a config: RRMKeys or SGDKeys.
type Keys interface{ algorithm() }

// Fitter is implemented by the keys of algorithms that ask something of the loss and of
// the radius of the ball that the items lie in.
type Fitter interface {
	Fit(l Loss, radius float64) []component.Fault
}

// RRMKeys are the keys of regularized risk minimization over all triplets, eq. 5.
type RRMKeys struct {
	Sigma  float64 `yaml:"sigma" check:">0" doc:"weight of the regularizer sigma/2 ||w - prior I||^2"`
	Prior  float64 `yaml:"prior" check:">=0" doc:"draw w to this multiple of the identity (the Euclidean metric) by sigma/2 ||w - prior I||^2; 0 is lambda ||w||^2 of the paper"`
	Method string  `yaml:"method" enum:"auto|newton|lbfgs" doc:"auto is newton where w has few entries, else lbfgs"`
	Tol    float64 `yaml:"tol" check:">=0,<1" doc:"largest certificate: w is this close to the minimizer in the Frobenius norm; 0 is 1e-9, for the hinge 0.01"`
	Sums   Sums    `yaml:"sums" enum:"auto|exact|interpolated" doc:"how the sums over all triplets are taken; auto interpolates where there are many"`
}

func (RRMKeys) algorithm() {}

// SGDKeys are the keys of stochastic gradient descent on random triplets, eq. 3.
type SGDKeys struct {
	C         component.Auto `yaml:"c" check:">0" doc:"the step is c/sqrt(steps); auto is the largest one that theory allows, 2/alpha"`
	Steps     component.Auto `yaml:"steps" check:">=1" doc:"triplets drawn, T; auto is the number of training items"`
	PSD       bool           `yaml:"psd" doc:"project w on the positive semidefinite matrices after each step"`
	Constants string         `yaml:"constants" enum:"tight|paper" doc:"smoothness alpha of the limit 2/alpha on the step c/sqrt(steps): 4 B^4, or the paper's 64 B^4"`
}

func (SGDKeys) algorithm() {}

// Check implements component.Checker.
func (k SGDKeys) Check() []component.Fault {
	if k.Steps.Given && (k.Steps.N != math.Trunc(k.Steps.N) || k.Steps.N > 1e9) {
		return []component.Fault{component.Faultf("steps", "must be auto or a whole number up to 1e9, is %s", component.Number(k.Steps.N))}
	}
	return nil
}

// Fit implements Fitter. Where steps is auto the limit on c depends on the data.
func (k SGDKeys) Fit(l Loss, radius float64) []component.Fault {
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
