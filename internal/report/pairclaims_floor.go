package report

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/noise"
)

// The claims about training errors, online training and graphs: C7 to C9.

// lineSettings is the least number of classes or rates that a line is fitted through.
const lineSettings = 3

// lineClaims are C7: the training error under noise on dense pairs follows
// P(1-P)/(2(K-1)), over K and over P, and is that of contradictory pairs.
func (s *PairStudy) lineClaims() []PairClaim {
	var out []PairClaim
	var done []string
	for _, first := range s.Floors {
		for _, axis := range []struct {
			over    string
			of      string
			classes string
			like    func(*PairRow) bool
		}{
			{"classes", first.row.Scenario + ", " + first.row.noiseName(), "", func(r *PairRow) bool { return r.among(first.row, "classes") && r.Wanted == first.row.Wanted }},
			{"rates", first.row.Scenario + ", PLN", fmt.Sprint(first.row.Classes), func(r *PairRow) bool { return r.among(first.row) }},
		} {
			var floors []PairFloor
			for _, f := range s.Floors {
				if f.Lower != nil && f.row.Noise == "pln" && !f.row.Online && axis.like(f.row) {
					floors = append(floors, f)
				}
			}
			line := fitLine(floors)
			c := first.row.about("C7")
			c.Of, c.Classes = axis.of, axis.classes
			if id := c.world() + axis.over + c.Of + c.Classes; len(floors) < lineSettings || line == nil || first.row.Noise != "pln" || slices.Contains(done, id) {
				continue
			} else {
				done = append(done, id)
			}
			slope := c.estimate(fmt.Sprintf("slope over %d %s", len(floors), axis.over), line.Slope)
			slope.plain = true
			out = append(out, slope.judge("interval holds 1", func(low, high float64) bool { return low <= 1 && high >= 1 }, func(low, high float64) bool { return low > 1 || high < 1 }),
				c.estimate(fmt.Sprintf("intercept over %d %s", len(floors), axis.over), line.Intercept).judge("interval holds 0",
					func(low, high float64) bool { return low <= 0 && high >= 0 }, never))
			if axis.over != "classes" {
				continue
			}
			for _, f := range floors {
				out = append(out, f.row.about("C7").estimate("training error less floor_duplicates", f.Above).judge("mean below 0.1 %",
					func(_, _ float64) bool { return *f.Above.Value < interpolated }, never))
			}
		}
	}
	return out
}

func never(_, _ float64) bool { return false }

// alike is how close offline and online training are called equal.
const alike = 0.01

// streamClaims are C8: offline training is as good as online at equal steps on clean
// pairs, and worse under noise. Online, both kinds of noise are shown beside each other.
func (s *PairStudy) streamClaims() []PairClaim {
	var out []PairClaim
	for _, c := range s.Streams {
		if c.row.Online {
			out = append(out, s.onlineKinds(c)...)
			continue
		}
		if c.Against == nil || s.Rows[*c.Online].other() != c.row.other() {
			continue // nothing to compare with, or of another study
		}
		q := c.row.about("C8").estimate(fmt.Sprintf("test error offline - online at step %.0f", c.Step), *c.Against)
		if c.row.Noise == "none" {
			q = q.judge("mean within 1 % of 0", func(_, _ float64) bool { return math.Abs(*q.Value) <= alike }, func(low, _ float64) bool { return low > alike })
		} else {
			q = q.judge("interval above 0", func(low, _ float64) bool { return low > 0 }, func(_, _ float64) bool { return true })
		}
		out = append(out, q)
	}
	return out
}

// onlineKinds sets noise on pairs against noise on labels, both online.
func (s *PairStudy) onlineKinds(pln StreamCurve) []PairClaim {
	if pln.row.Noise != "pln" {
		return nil
	}
	i := slices.IndexFunc(s.Streams, func(c StreamCurve) bool {
		return c.row.Noise == "sln" && c.row.Wanted == pln.row.Wanted && c.row.among(pln.row)
	})
	if i < 0 {
		return nil
	}
	sln := s.Streams[i]
	step := min(pln.Points[len(pln.Points)-1].Step, sln.Points[len(sln.Points)-1].Step)
	own, other := valuesAt(pln.values, step), valuesAt(sln.values, step)
	var d []float64
	for k, seed := range pln.row.Seeds {
		if j := slices.Index(sln.row.Seeds, seed); j >= 0 {
			d = append(d, own[k]-other[j])
		}
	}
	if d == nil {
		return nil
	}
	q := pln.row.about("C8")
	q.Of = fmt.Sprintf("%s, PLN - SLN, %.4g %%", pln.row.Scenario, 100*pln.row.Wanted)
	return []PairClaim{q.over(fmt.Sprintf("test error, both online, at step %.0f", step), d)}
}

// negativeClaims are the first half of C9: random negatives leave no floor.
func (s *PairStudy) negativeClaims() []PairClaim {
	var out []PairClaim
	for _, rows := range s.widthCurves() {
		row := rows[len(rows)-1]
		if row.Negatives != noise.RandomOne || row.Noise != "pln" || row.Scenario == "s1" || row.Online {
			continue
		}
		c := row.about("C9")
		random := c.estimate("training error, random negatives", row.Scores[trainError])
		i := slices.IndexFunc(s.Rows, func(r *PairRow) bool {
			return r.Negatives == noise.SameIndex && r.Wanted == row.Wanted && r.Noise == row.Noise && r.Parameters == row.Parameters && r.among(row, "negatives")
		})
		if i < 0 {
			out = append(out, random.below(interpolated))
			continue
		}
		same := c.estimate("training error, same-index negatives", s.Rows[i].Scores[trainError])
		fits := *random.Value < max(interpolated, *same.Value/5)
		out = append(out, random.judge("mean below 0.1 % or a fifth of same-index", func(_, _ float64) bool { return fits }, func(_, _ float64) bool { return true }), same)
	}
	return out
}

// orderClaims are the other half of C9: lists that are sorted by true class undo most of
// the noise on labels. What is expected of them is drawn.
func (s *PairStudy) orderClaims() []PairClaim {
	var out []PairClaim
	for _, row := range s.Rows {
		if row.Noise != "sln" || row.Scenario != "s2" || row.Negatives != noise.SameIndex || row.Online {
			continue
		}
		sorted := row.Order == noise.PaperOrder
		if !sorted && !slices.ContainsFunc(s.Rows, func(r *PairRow) bool { return r.Order == noise.PaperOrder && r.among(row, "order") }) {
			continue
		}
		wrong, pairs := 0.0, 0
		for _, p := range row.runs {
			wrong += p.graph.Effective * float64(p.graph.Pairs)
			pairs += p.graph.Pairs
		}
		if pairs == 0 {
			continue
		}
		share := wrong / float64(pairs)
		low, high := noise.Wilson(int(math.Round(wrong)), pairs)
		c := row.about("C9")
		c.Estimate, c.Binomial = Estimate{Value: &share, CI95: &[2]float64{low, high}, N: row.N}, true
		if !sorted {
			c.What = "found P, lists shuffled"
			out = append(out, c)
			continue
		}
		images := row.runs[0].graph.Pairs / (2 * row.Classes)
		c.What = fmt.Sprintf("found P, lists sorted by class, %d images of each", images)
		if want, _, err := noise.Sorted(row.Wanted, row.Classes, images); err == nil {
			c = c.judge(fmt.Sprintf("interval holds the %.2f %% that draws give", 100*want), func(low, high float64) bool { return low <= want && high >= want },
				func(_, _ float64) bool { return true })
		}
		out = append(out, c)
	}
	return out
}
