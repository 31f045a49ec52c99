package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "proxy-nca", Doc: "neighborhood components with a proxy for each class (Movshovitz-Attias et al.)", Defaults: ProxyNCADefaults()})
	loss.Family.Register(component.Component[loss.Options]{Name: "proxy-nca-pp", Doc: "ProxyNCA++: a softmax over all proxies (Teh et al.)", Defaults: ProxyNCAPPDefaults()})
}

// ProxyNCAOptions are the keys of ProxyNCA and ProxyNCA++.
type ProxyNCAOptions struct {
	Temperature float64        `yaml:"temperature" check:">0.0001,<=100" doc:"divides the squared distances of directions inside the softmax"`
	Denominator Denominator    `yaml:"denominator" enum:"all|negatives" doc:"negatives: the sum leaves out the own proxy, so that the loss can be below 0; all: it has all proxies"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the proxies as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the proxies; auto takes optimizer.weight_decay"`
}

// ProxyNCADefaults returns the loss as printed: temperature 1, without the own proxy in the
// sum.
func ProxyNCADefaults() ProxyNCAOptions {
	return ProxyNCAOptions{Temperature: 1, Denominator: OverNegatives, LRFactor: 1}
}

// ProxyNCAPPDefaults returns temperature 1/9 and all proxies.
func ProxyNCAPPDefaults() ProxyNCAOptions {
	return ProxyNCAOptions{Temperature: 1. / 9, Denominator: OverAll, LRFactor: 100}
}

// New implements Options.
func (o ProxyNCAOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("proxy-nca", o, &proxyNCA{classRows: classRows{name: "proxies", each: 1}, scale: 2 / o.Temperature, denominator: o.Denominator})
}

// Takes implements Options.
func (ProxyNCAOptions) Takes() loss.Kind { return loss.Labels }

// Rate implements Learned.
func (o ProxyNCAOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// proxyNCA is the mean over rows of
//
//	-log( exp(-d^2(x, p_y)/T) / sum_p exp(-d^2(x, p)/T) )
//
// d^2 = 2 - 2 s the squared distance of directions; the sum has the proxies of other
// classes (Movshovitz-Attias et al., "No Fuss Distance Metric Learning using Proxies", ICCV
// 2017, eq. 5), or all (Teh et al., "ProxyNCA++", ECCV 2020, eq. 6). It serves one goroutine
// at a time.
type proxyNCA struct {
	classRows
	scale       float64 // 2/T
	denominator Denominator
}

// Begin implements Parametric.
func (l *proxyNCA) Begin(dim, classes int, r *rng.Stream) error {
	l.row = l.classify
	return l.classRows.Begin(dim, classes, r)
}

// Margin returns 0: the loss has none.
func (l *proxyNCA) Margin() float64 { return 0 }

// classify is classRows.row.
func (l *proxyNCA) classify(cos []float32, y int, mean float64) float64 {
	kernel.ScaleRow(float32(l.scale), cos)
	if l.denominator == OverAll {
		return crossEntropy(cos, y, l.scale*mean)
	}
	return againstOthers(cos, y, l.scale*mean)
}

// againstOthers is crossEntropy with a sum that leaves y out: slopes are softmax of the
// others, and -1, times factor. One class alone has no loss.
func againstOthers(logit []float32, y int, factor float64) float64 {
	if len(logit) == 1 {
		logit[0] = 0
		return 0
	}
	mine := float64(logit[y])
	logit[y] = float32(math.Inf(-1))
	top := kernel.Greatest(logit)
	_, rest := split(logit, y)
	kernel.ScaleRow(float32(factor/rest), logit)
	logit[y] = float32(-factor)
	return float64(top) + math.Log(rest) - mine
}
