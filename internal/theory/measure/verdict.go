package measure

import (
	"fmt"

	"tercet/internal/record"
	"tercet/internal/theory/stability"
	"tercet/internal/verdict"
)

// addCheck adds a sentence with its answer, nil for none.
func addCheck(d *record.MetricStability, says, found string, holds *bool) {
	d.Checks = append(d.Checks, record.MetricCheck{Says: says, Found: found, Holds: holds})
}

func check(d *record.MetricStability, says, found string, holds bool) {
	addCheck(d, says, found, &holds)
}

func leaveOpen(d *record.MetricStability, says, found string) { addCheck(d, says, found, nil) }

// atLargest adds a sentence about the largest of a claim's sizes. Where it does not hold
// at the largest one that could be measured, but larger ones were left out, it is open.
func atLargest(d *record.MetricStability, says, found string, holds *bool, left []record.Sizes) {
	if holds != nil && !*holds && left != nil {
		holds, found = nil, found+"; larger sizes were left out"
	}
	addCheck(d, says, found, holds)
}

// setVerdict sets the verdict: inconclusive where there are no checks.
func setVerdict(d *record.MetricStability) *record.MetricStability {
	var parts []string
	for _, c := range d.Checks {
		parts = append(parts, verdict.OfAnswer(c.Holds))
	}
	d.Verdict = verdict.All(parts...)
	return d
}

// Renew makes the answers of a claim's document those of the present rules, for documents
// that were made by earlier ones: a slope then held where its value was expected, whatever
// its interval, and verdicts were "holds", "fails" and "open".
func Renew(d *record.MetricStability) {
	if d.Claim == "" {
		return
	}
	for _, s := range d.Series {
		if s.Expected == nil {
			continue
		}
		for i := range d.Checks {
			if d.Checks[i].Says == slopeCheck(s) {
				d.Checks[i].Holds, d.Checks[i].Found = AsExpected(s)
			}
		}
	}
	setVerdict(d)
}

// slopeCheck is the sentence of the check on the series' slope.
func slopeCheck(s record.MetricSeries) string {
	return fmt.Sprintf("%s: slope between %g and %g", s.Name, s.Expected[0], s.Expected[1])
}

// AsExpected says whether the series' slope lies where it is expected: yes where its whole
// interval does, no where its whole interval lies elsewhere, though no size was left out;
// nil where there is no interval or more repeats or sizes may tell. found is the slope in
// words.
func AsExpected(s record.MetricSeries) (yes *bool, found string) {
	switch {
	case s.Expected == nil:
		return nil, ""
	case s.Rate == nil:
		return nil, s.RateNote
	case s.Rate.CI95 == nil:
		return nil, fmt.Sprintf("%.3f, %s", s.Rate.Slope, s.RateNote)
	}
	low, high, c := s.Expected[0], s.Expected[1], *s.Rate.CI95
	found = fmt.Sprintf("%.3f [%.3f, %.3f]", s.Rate.Slope, c[0], c[1])
	yes = verdict.Answer(verdict.Between(low, high).Of(&c))
	if yes != nil && !*yes && s.LeftOut != nil {
		return nil, found + "; sizes were left out"
	}
	return yes, found
}

// add fits the series' rate, adds it to the document and checks the slope where one is
// expected. A series without points, all sizes being left out, leaves the claim open.
func (t *tester) add(s record.MetricSeries) {
	if len(s.Points) == 0 {
		leaveOpen(t.doc, s.Name+": there are sizes to measure at", "none")
		return
	}
	fitRate(&s, t.Seed)
	t.doc.Series = append(t.doc.Series, s)
	if s.Expected == nil {
		return
	}
	yes, found := AsExpected(s)
	addCheck(t.doc, slopeCheck(s), found, yes)
}

// within checks that all points of a series lie at or below their corrected bounds with the
// smallest constants: it is contradicted where one is violated, and inconclusive where one is
// undecided.
func (t *tester) within(s record.MetricSeries, says string) {
	if len(s.Points) == 0 {
		return // add has said so
	}
	held, crossed, all, worst := 0, 0, 0, 0.0
	for _, p := range s.Points {
		for _, b := range p.Bounds {
			if b.Form != stability.Corrected || b.Constants != stability.Tight {
				continue
			}
			all++
			switch {
			case b.Crossed:
				crossed++
			case !b.Undecided:
				held++
			}
			worst = max(worst, p.Measured.Max/b.Value)
		}
	}
	if all == 0 {
		leaveOpen(t.doc, says, "there is no such bound")
		return
	}
	found := fmt.Sprintf("%d of %d, largest ratio %.3g", held, all, worst)
	if open := all - held - crossed; open > 0 {
		found = fmt.Sprintf("%d of %d, %d undecided, largest ratio %.3g", held, all, open, worst)
	}
	switch {
	case crossed > 0:
		check(t.doc, says, found, false)
	case held < all:
		leaveOpen(t.doc, says, found)
	default:
		check(t.doc, says, found, true)
	}
}

// above says whether the whole interval lies above v, or at or below it; nil where v is
// inside or there is no interval.
func above(e record.Estimate, v float64) *bool {
	switch {
	case e.CI95 == nil || e.CI95[0] <= v && v < e.CI95[1]:
		return nil
	default:
		return new(e.CI95[0] > v)
	}
}

// words are such as "0.7608 [0.7227, 0.7988]".
func words(e record.Estimate) string {
	if e.CI95 == nil {
		return fmt.Sprintf("%.4g, no interval: one repeat", e.Value)
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.CI95[0], e.CI95[1])
}

// isCrossed says whether the bound is crossed; nil where it is undecided.
func isCrossed(b record.MetricBound) *bool {
	if b.Undecided {
		return nil
	}
	return new(b.Crossed)
}

func printed(b record.MetricBound) bool { return b.Form == stability.Paper }
