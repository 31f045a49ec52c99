package generalize

import (
	"fmt"
	"math"

	"tercet/internal/record"
	"tercet/internal/stat"
	"tercet/internal/verdict"
)

// sameAsControl is the claim that replaced images change a network as much as one ulp of a
// weight does: the ratio of the changes is 1 to within a quarter.
var sameAsControl = verdict.Between(0.8, 1.25)

// compareControls fills in Controls; nothing where a retraining changed no loss.
func (d *StabilityDoc) compareControls() {
	logs, still := map[string][]float64{}, 0
	for _, v := range d.Replaced {
		switch {
		case v.Movement == nil:
		case v.Movement.LossMean > 0:
			logs[v.Kind] = append(logs[v.Kind], math.Log(v.Movement.LossMean))
		case v.Kind == ReplaceUlp:
			still++
		}
	}
	control := logs[ReplaceUlp]
	if control == nil {
		return
	}
	for _, k := range d.Kinds {
		if own := logs[k.Kind]; own != nil && k.Kind != ReplaceUlp {
			r := ratioTo(k.Kind, own, control)
			r.Still = still
			d.Controls = append(d.Controls, r)
		}
	}
}

// ratioTo is exp of the difference of means. Its interval has the fewer degrees of freedom
// of the two, which is never too narrow.
func ratioTo(kind string, own, control []float64) record.ControlRatio {
	m, se := stat.MeanError(own)
	mc, sec := stat.MeanError(control)
	out := record.ControlRatio{Kind: kind, Ratio: math.Exp(m - mc)}
	if n := min(len(own), len(control)); n > 1 {
		half := float64(stat.T95(n) * math.Hypot(se, sec))
		out.CI95 = &[2]float64{math.Exp(m - mc - half), math.Exp(m - mc + half)}
	}
	out.Verdict = sameAsControl.Of(out.CI95)
	return out
}

// controlWords are such as "fresh: 1.03 times the control's change [0.97, 1.10] (...)".
func controlWords(c record.ControlRatio) string {
	interval := "no interval: too few retrainings"
	if c.CI95 != nil {
		interval = fmt.Sprintf("[%.3g, %.3g]", c.CI95[0], c.CI95[1])
	}
	left := ""
	if c.Still > 0 {
		left = fmt.Sprintf(" (%d that changed no loss left out)", c.Still)
	}
	return fmt.Sprintf("%s: mean change of a loss %.3g times that of %s %s%s; that they are equal within 0.8 to 1.25: %s", c.Kind, c.Ratio, ReplaceUlp, interval, left, c.Verdict)
}
