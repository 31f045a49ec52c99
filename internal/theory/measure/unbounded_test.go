package measure

import (
	"strings"
	"testing"

	"tercet/internal/record"
)

func TestReasonsForMissingBounds(t *testing.T) {
	rrm, sgd := record.Learner{Name: "rrm", Loss: "logistic"}, record.Learner{Name: "sgd", Loss: "logistic", C: .5}
	with := func(l record.Learner, loss string) record.Learner {
		l.Loss, l.Zeta = loss, 1
		return l
	}
	full := func(source string, constants ...string) []record.MetricPoint {
		p := record.MetricPoint{}
		for _, c := range constants {
			p.Bounds = append(p.Bounds, record.MetricBound{Source: source, Constants: c})
		}
		return []record.MetricPoint{p}
	}
	for _, c := range []struct {
		s    record.MetricSeries
		want string
	}{
		{record.MetricSeries{Quantity: "gamma", Learner: rrm, Points: full("Lemma 4", "paper", "tight")}, ""},
		{record.MetricSeries{Quantity: "gamma", Learner: with(rrm, "least-squares"), Points: full("")}, "Lemma 4 assumes a Lipschitz loss, which least-squares is not"},
		{record.MetricSeries{Quantity: "|gap|", Learner: with(rrm, "least-squares"), Points: full("")}, "Theorem 1 assumes a Lipschitz"},
		{record.MetricSeries{Quantity: "gap", Learner: with(rrm, "hinge"), Points: full("")}, "Theorem 4 assumes a smooth loss, which hinge is not"},
		{record.MetricSeries{Quantity: "gap", Learner: rrm, Points: full("Theorem 4", "tight")}, "512 with the paper's alpha, 32 with the smallest"},
		{record.MetricSeries{Quantity: "|gap|", Learner: sgd, Points: full("Theorem 2", "tight")}, "up to 2/alpha = 0.03125, and SGD has c = 0.5"},
		{record.MetricSeries{Quantity: "gamma", Learner: sgd, Points: full("Lemma 2", "tight")}, "Lemma 2 with the smallest alpha alone"},
		{record.MetricSeries{Quantity: "gap", Learner: sgd, Points: full("")}, "regularized risk minimization"},
		{record.MetricSeries{Quantity: "on-average", Learner: rrm, Points: full("")}, "that of the gap"},
		{record.MetricSeries{Quantity: "triplet error", Points: full("")}, "not on errors"},
	} {
		if got := Unbounded(c.s, 1); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s of %s, %s: %q, want %q", c.s.Quantity, c.s.Learner.Name, c.s.Learner.Loss, got, c.want)
		}
	}
}
