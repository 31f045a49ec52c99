package labeled

import (
	"tercet/internal/component"
	"tercet/internal/engine/loss"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "smooth-ap", Doc: "average precision with a sigmoid for each step of a rank (Brown et al.)", Defaults: SmoothAPDefaults()})
}

// SmoothAPOptions are the keys of a SmoothAPLoss.
type SmoothAPOptions struct {
	Temperature float64 `yaml:"temperature" check:">0.0001,<=100" doc:"divides differences of cosines inside the sigmoid"`
	Variant     Variant `yaml:"variant" enum:"paper|published" doc:"published counts an image among its own positives, as the authors' code does"`
}

// SmoothAPDefaults returns temperature 0.01.
func SmoothAPDefaults() SmoothAPOptions { return SmoothAPOptions{Temperature: 0.01, Variant: Paper} }

// New implements Options.
func (o SmoothAPOptions) New() (loss.Objective, error) {
	l := &SmoothAPLoss{o: o}
	l.counts, l.row = found, l.query
	return loss.Checked[loss.Objective]("smooth-ap", o, l)
}

// Takes implements Options.
func (SmoothAPOptions) Takes() loss.Kind { return loss.Labels }

// SmoothAPLoss is 1 minus the mean, over rows q with positives P, of
//
//	1/|P| sum_{i in P} (1 + sum_{j in P, j != i} sigma_ji) / (1 + sum_{j != i} sigma_ji)
//
// with sigma_ji = 1/(1 + exp((s_qi - s_qj)/T)), s_qj the cosine of rows q and j (Brown et al.,
// "Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval", ECCV 2020, eq. 8). For
// B rows it takes B^2 memory for the cosines and their slopes, and nothing beside; PyTorch
// implementations take B^3. It serves one goroutine at a time.
type SmoothAPLoss struct {
	ownRows
	o SmoothAPOptions
}

// Margin returns 0: the loss has none.
func (l *SmoothAPLoss) Margin() float64 { return 0 }

// among says whether the query itself is ranked.
func (l *SmoothAPLoss) among() bool { return l.o.Variant == Published }

// query is ownRows.row: 1 - AP of row q.
func (l *SmoothAPLoss) query(q int) float64 {
	cos, slope := l.c.Row(q)
	positives := l.positives(q)
	if l.among() {
		positives++
	}
	precision := 0.0
	for i := range cos {
		if l.labels[i] == l.labels[q] && (i != q || l.among()) {
			precision += l.rank(q, i, cos, slope, 1/float64(positives))
		}
	}
	slope[q] = 0 // the cosine of a row with itself is 1
	return 1 - precision/float64(positives)
}

// rank returns the precision at positive i, and adds the slopes of minus the precision times
// share.
func (l *SmoothAPLoss) rank(q, i int, cos, slope []float32, share float64) float64 {
	own, all := 1.0, 1.0
	for j, c := range cos {
		if j == i || j == q && !l.among() {
			continue
		}
		s := l.above(cos[i], c)
		all += s
		if l.labels[j] == l.labels[q] {
			own += s
		}
	}
	pull := 0.0
	for j, c := range cos {
		if j == i || j == q && !l.among() {
			continue
		}
		s := l.above(cos[i], c)
		gain := -own / (all * all)
		if l.labels[j] == l.labels[q] {
			gain += 1 / all
		}
		g := -share * gain * s * (1 - s) / l.o.Temperature
		slope[j] += float32(g)
		pull += g
	}
	slope[i] -= float32(pull)
	return own / all
}

// above is sigma: how much a row of cosine c is ranked above one of cosine at.
func (l *SmoothAPLoss) above(at, c float32) float64 {
	return logistic((float64(c) - float64(at)) / l.o.Temperature)
}
