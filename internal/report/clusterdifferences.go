package report

import (
	"fmt"
	"slices"
)

// StudyDifference is how much better one way is than another with the same seeds:
// the same first weights, batches and flipped labels. Student's interval is over the
// seeds' differences.
type StudyDifference struct {
	Data   string              `json:"data"`
	What   string              `json:"what"`  // such as "L3 - L1" or "multicut-fit - kmeans"
	Where  string              `json:"where"` // the method, or the loss, of both
	Noise  *float64            `json:"noise"` // nil: mean over all rates above 0
	N      int                 `json:"n"`
	Scores map[string]Estimate `json:"scores"`
}

// contrast is a pair of rows' loss and method.
type contrast struct {
	what, where  string
	loss, method [2]string
}

// contrasts are the questions of the study: the loss that has its threshold built in
// against the others under each method, and each method against k-means. A loss
// without margins has no threshold from them: there its fitted one takes part.
func contrasts(losses, methods []string, has func(loss, method string) bool) []contrast {
	var out []contrast
	const best, fitted, margins = "L3", "multicut-fit", "multicut-margins"
	if slices.Contains(losses, best) {
		for _, m := range methods {
			for _, l := range losses {
				c := contrast{best + " - " + l, m, [2]string{best, l}, [2]string{m, m}}
				if m == margins && !has(l, m) && has(l, fitted) {
					c.where, c.method[1] = m+", "+l+" "+fitted, fitted
				}
				if l != best {
					out = append(out, c)
				}
			}
		}
	}
	for _, m := range methods {
		for _, l := range losses {
			if m != "kmeans" && has(l, m) && has(l, "kmeans") {
				out = append(out, contrast{m + " - kmeans", l, [2]string{l, l}, [2]string{m, "kmeans"}})
			}
		}
	}
	return out
}

// compare fills Differences.
func (s *ClusterStudy) compare() {
	for _, data := range s.datas() {
		var losses, methods []string
		var rates []float64
		rows := map[string]*StudyRow{}
		id := func(loss, method string, noise float64) string { return fmt.Sprintf("%q %q %v", loss, method, noise) }
		for i := range s.Rows {
			row := &s.Rows[i]
			if row.Data != data {
				continue
			}
			if !slices.Contains(losses, row.Loss) {
				losses = append(losses, row.Loss)
			}
			if !slices.Contains(methods, row.Method) {
				methods = append(methods, row.Method)
			}
			if !slices.Contains(rates, row.Noise) {
				rates = append(rates, row.Noise)
			}
			rows[id(row.Loss, row.Method, row.Noise)] = row
		}
		slices.Sort(losses)
		slices.Sort(rates)
		has := func(loss, method string) bool {
			return slices.ContainsFunc(rates, func(r float64) bool { return rows[id(loss, method, r)] != nil })
		}
		for _, c := range contrasts(losses, methods, has) {
			var noisy []map[uint64]map[string]float64
			for _, rate := range rates {
				d := paired(rows[id(c.loss[0], c.method[0], rate)], rows[id(c.loss[1], c.method[1], rate)])
				if rate > 0 {
					noisy = append(noisy, d)
				}
				s.difference(data, c, &rate, d)
			}
			if len(noisy) > 1 {
				s.difference(data, c, nil, overall(noisy))
			}
		}
	}
}

// paired are the differences of two rows by seed and score.
func paired(a, b *StudyRow) map[uint64]map[string]float64 {
	out := map[uint64]map[string]float64{}
	if a == nil || b == nil {
		return out
	}
	for seed, of := range a.bySeed {
		other, ok := b.bySeed[seed]
		if !ok {
			continue
		}
		out[seed] = map[string]float64{}
		for _, key := range studyScores {
			x, there := of[key]
			if y, too := other[key]; there && too {
				out[seed][key] = x - y
			}
		}
	}
	return out
}

// overall takes each seed's mean over all rates; a seed that lacks one is left out.
func overall(rates []map[uint64]map[string]float64) map[uint64]map[string]float64 {
	out := map[uint64]map[string]float64{}
	for seed := range rates[0] {
		means := map[string]float64{}
		for _, key := range studyScores {
			sum, n := 0.0, 0
			for _, d := range rates {
				if v, ok := d[seed][key]; ok {
					sum, n = sum+v, n+1
				}
			}
			if n == len(rates) {
				means[key] = sum / float64(n)
			}
		}
		if len(means) > 0 {
			out[seed] = means
		}
	}
	return out
}

// difference adds the means over seeds, if there are some.
func (s *ClusterStudy) difference(data string, c contrast, noise *float64, d map[uint64]map[string]float64) {
	var seeds []uint64
	for seed := range d {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	out := StudyDifference{Data: data, What: c.what, Where: c.where, Noise: noise, Scores: map[string]Estimate{}}
	for _, key := range studyScores {
		var values []float64
		for _, seed := range seeds {
			if v, ok := d[seed][key]; ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out.Scores[key] = estimateOf(values)
			out.N = max(out.N, len(values))
		}
	}
	if out.N > 0 {
		s.Differences = append(s.Differences, out)
	}
}
