package labeled

import (
	"tercet/internal/component"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "fastap", Doc: "average precision by histograms of distances (Cakir et al.)", Defaults: FastAPDefaults()})
}

// FastAPOptions are the keys of a FastAPLoss.
type FastAPOptions struct {
	Bins    int     `yaml:"bins" check:">=2,<=10000" doc:"steps of the histograms of squared distances, from 0 to 4"`
	Variant Variant `yaml:"variant" enum:"paper|published" doc:"published multiplies the gradient by half the images of a batch, as the authors' code does; the value is the same"`
}

// FastAPDefaults returns 10 bins.
func FastAPDefaults() FastAPOptions { return FastAPOptions{Bins: 10, Variant: Paper} }

// New implements Options.
func (o FastAPOptions) New() (loss.Objective, error) {
	l := &FastAPLoss{o: o}
	l.counts, l.row = found, l.query
	return loss.Checked[loss.Objective]("fastap", o, l)
}

// Takes implements Options.
func (FastAPOptions) Takes() loss.Kind { return loss.Labels }

// Detached implements Detached: the published gradient is not that of the value.
func (o FastAPOptions) Detached() bool { return o.Variant == Published }

// FastAPLoss is 1 minus the mean, over rows with positives, of
//
//	1/|P| sum_l h+_l H+_l / H_l
//
// h+ and h the histograms of the squared distances 2 - 2 s to positives and to all other
// rows, at bins + 1 centers from 0 to 4 with triangular weights, H+ and H their cumulative
// sums; terms with H_l = 0 are 0 (Cakir et al., "Deep Metric Learning to Rank", CVPR 2019, eq.
// 6). It serves one goroutine at a time.
type FastAPLoss struct {
	ownRows
	o     FastAPOptions
	spare par.Free[fastAPScratch]
}

// fastAPScratch are numbers of each center.
type fastAPScratch struct{ own, all, ownSlope, allSlope []float64 }

// Margin returns 0: the loss has none.
func (l *FastAPLoss) Margin() float64 { return 0 }

// bin returns the lower of the two centers that a cosine's distance lies between, and the
// weight of the upper one.
func (l *FastAPLoss) bin(c float32) (low int, upper float64) {
	at := float64((2 - float64(2*float64(c))) / 4 * float64(l.o.Bins))
	low = min(int(at), l.o.Bins-1)
	return low, at - float64(low)
}

// query is ownRows.row: 1 - FastAP of row q.
func (l *FastAPLoss) query(q int) float64 {
	cos, slope := l.c.Row(q)
	s := l.spare.Get()
	defer l.spare.Put(s)
	n := l.o.Bins + 1
	s.own, s.all, s.ownSlope, s.allSlope = loss.Grow(s.own, n), loss.Grow(s.all, n), loss.Grow(s.ownSlope, n), loss.Grow(s.allSlope, n)
	clear(s.own)
	clear(s.all)
	for j, c := range cos {
		if j == q {
			continue
		}
		low, upper := l.bin(c)
		s.all[low] += 1 - upper
		s.all[low+1] += upper
		if l.positive(q, j) {
			s.own[low] += 1 - upper
			s.own[low+1] += upper
		}
	}
	value := s.precision(float64(l.positives(q)))
	scale := float64(l.o.Bins) / 2 // of the upper weight, as the cosine falls
	if l.o.Variant == Published {
		scale *= float64(len(cos)) / 2
	}
	for j, c := range cos {
		if j == q {
			continue
		}
		low, _ := l.bin(c)
		turn := s.allSlope[low+1] - s.allSlope[low]
		if l.positive(q, j) {
			turn += s.ownSlope[low+1] - s.ownSlope[low]
		}
		slope[j] = float32(turn * scale) // of 1 - FastAP by the cosine: two signs
	}
	return 1 - value
}

// precision returns FastAP of the histograms, and sets its derivatives with respect to them.
func (s *fastAPScratch) precision(positives float64) (value float64) {
	own, all := 0.0, 0.0
	for l := range s.own {
		own += s.own[l]
		all += s.all[l]
		s.ownSlope[l], s.allSlope[l] = 0, 0
		if all > 0 {
			value += s.own[l] * own / all
			s.ownSlope[l] = own / all
		}
	}
	// A number counts in the cumulative sums of its center and of all above.
	towards, against := 0.0, 0.0
	for l := len(s.own) - 1; l >= 0; l-- {
		if all > 0 {
			towards += s.own[l] / all
			against += s.own[l] * own / (all * all)
		}
		s.ownSlope[l] = (s.ownSlope[l] + towards) / positives
		s.allSlope[l] = -against / positives
		own -= s.own[l]
		all -= s.all[l]
	}
	return value / positives
}
