package robustness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// scored is a score of n queries in batches, and one that is constant.
func scored(n, batch int) *attack.Scored {
	s := &attack.Scored{Variant: attack.Published, Keys: []string{"ES:R", "GTT"}, Batch: batch}
	s.Adversarial = [][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		if math.Sin(float64(i*i)) > 0 {
			s.Adversarial[0][i] = 1
		}
		s.Adversarial[1][i] = 0.25
	}
	return s
}

func TestScores(t *testing.T) {
	ctx := context.Background()
	o := record.AttackOptions{Bootstrap: 300, Seed: 4}
	for _, c := range []struct{ n, batch int }{{129, 128}, {256, 128}, {10, 3}, {300, 300}} {
		s := scored(c.n, c.batch)
		means, batches := 0.0, 0
		for lo := 0; lo < c.n; lo += c.batch {
			hi, part := min(lo+c.batch, c.n), 0.0
			for _, v := range s.Adversarial[0][lo:hi] {
				part += v / float64(hi-lo)
			}
			means, batches = means+part, batches+1
		}
		got, err := scores(ctx, s, s.Adversarial, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if want := means / float64(batches); math.Abs(got[0].Value.Value-want) > 1e-12 || got[0].Definition != "es:r(published)" {
			t.Errorf("%+v: %+v, want %v", c, got[0], want)
		}
		if math.Abs(got[1].Value.Value-0.25) > 1e-15 || *got[1].CI95 != [2]float64{0.25, 0.25} {
			t.Errorf("%+v: a constant score is %v in %v", c, got[1].Value.Value, *got[1].CI95)
		}
		if ci := got[0].CI95; !(0 <= ci[0] && ci[0] < got[0].Value.Value && got[0].Value.Value < ci[1] && ci[1] <= 1) {
			t.Errorf("%+v: %v in %v", c, got[0].Value.Value, *ci)
		}
		if c.n%c.batch != 0 {
			continue
		}
		// With equal weights, the plain mean and its interval.
		var flat []float64
		for i := range c.n {
			flat = append(flat, s.Adversarial[0][i], s.Adversarial[1][i])
		}
		want, err := metric.Means(ctx, record.Scores{{Key: "a"}, {Key: "b"}}, flat, metric.Intervals{Resamples: 300, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			if d := math.Abs(want[0].CI95[k] - got[0].CI95[k]); d > 1e-12 {
				t.Errorf("%+v: interval %v, want %v", c, *got[0].CI95, *want[0].CI95)
			}
		}
	}
	// Of chosen queries: batches of 3 of 10, so that query 9 weighs three times.
	s := scored(10, 3)
	got, err := scores(ctx, s, s.Adversarial, []int{0, 4, 9}, record.AttackOptions{})
	if want := (s.Adversarial[0][0] + s.Adversarial[0][4] + 3*s.Adversarial[0][9]) / 5; err != nil || math.Abs(got[0].Value.Value-want) > 1e-15 || got[0].CI95 != nil {
		t.Errorf("%+v, %v, want %v", got[0], err, want)
	}
}

// The interval of chosen queries ends where their values do, not where those of
// other queries would.
func TestScoresClipToTheChosenQueries(t *testing.T) {
	s := &attack.Scored{Variant: attack.Published, Keys: []string{"ES:D"}, Batch: 4}
	s.Adversarial = [][]float64{{0, 0.5, 2, 0, 0.6}} // the last one weighs four times
	got, err := scores(context.Background(), s, s.Adversarial, []int{1, 4}, record.AttackOptions{Bootstrap: 200})
	if err != nil {
		t.Fatal(err)
	}
	if ci := *got[0].CI95; !(0.5 <= ci[0] && ci[0] < ci[1] && ci[1] <= 0.6) {
		t.Errorf("values 0.5 and 0.6: the interval is %v", ci)
	}
}

// The interval of a mean of batch means covers it about as often as it says, where
// the last batch weighs much.
func TestIntervalOfBatchMeans(t *testing.T) {
	const n, batch, p = 70, 64, 0.3
	covered, trials := 0, 300
	for trial := range trials {
		s := scored(n, batch)
		for i := range n {
			s.Adversarial[0][i] = 0
			if x := math.Sin(float64(1+trial*n+i)) * 1e5; x-math.Floor(x) < p {
				s.Adversarial[0][i] = 1
			}
		}
		got, err := scores(context.Background(), s, s.Adversarial, nil, record.AttackOptions{Bootstrap: 200, Seed: uint64(trial)})
		if err != nil {
			t.Fatal(err)
		}
		if ci := got[0].CI95; ci[0] <= p && p <= ci[1] {
			covered++
		}
	}
	// Six queries decide half of the mean: below 95 %, as bootstraps of few values are.
	if f := float64(covered) / float64(trials); f < 0.8 || f > 0.99 {
		t.Errorf("%.3f of the intervals cover the mean", f)
	}
}

func TestWarnings(t *testing.T) {
	right := attack.Scored{Variant: attack.Fixed, Keys: []string{"ES:R"}, Clean: [][]float64{{1, 0, 0, 0}}}
	r := &attack.Result{
		Queries: []int{0, 1, 2, 3}, Excluded: 2, NotNormalized: true, Collapsed: true, MeanCosine: 0.999, Chance: 0.24,
		Scored: []attack.Scored{right}, Attacks: []attack.Ran{{Attack: "ES", ZeroGradient: 0.5}, {Attack: "GTM"}},
	}
	all := warnings(r, false)
	for _, want := range []string{"ERS means nothing; train with model.normalize", "collapsed (mean cosine of two images 0.9990)", "0.2500, near chance (0.2400)", "ES: 50 % of the gradients", "2 images were not attacked"} {
		if !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%q is not in %q", want, all)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d warnings", len(all))
	}
	r = &attack.Result{Queries: r.Queries, Scored: r.Scored, Chance: 0.1}
	if w := warnings(r, false); w != nil {
		t.Errorf("%q", w)
	}
}

func TestCurve(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	o := record.AttackOptions{Attacks: []string{"ES"}, Queries: 8, Bootstrap: 20}
	if err := Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 4
	doc, err := Curve(context.Background(), r, "last", "test", o, []float64{0.2, 0, 0.005}, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "tercet.curve/1" || doc.Queries != 8 || doc.Options.Eps != 0.2 || len(doc.Points) != 3 || doc.Cost.Backward != 2*2*8*4 { // two points, two variants
		t.Errorf("%+v", doc)
	}
	at := o
	for i, want := range []record.CurvePoint{{Eps: 0, Step: o.Step}, {Eps: 0.005, Step: 0.005}, {Eps: 0.2, Step: o.Step}} {
		p := doc.Points[i]
		if p.Eps != want.Eps || p.Step != want.Step {
			t.Errorf("point %d: eps %v, step %v", i, p.Eps, p.Step)
		}
		at.Eps, at.Step = want.Eps, want.Step
		a, err := Attack(context.Background(), r, "last", "test", at, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(values(p.Scores)), fmt.Sprint(values(a.Doc.Scores)); got != want {
			t.Errorf("eps %v: %s, attacked alone %s", p.Eps, got, want)
		}
		if i == 0 && fmt.Sprint(values(a.Doc.Scores)) != fmt.Sprint(values(a.Doc.Clean)) {
			t.Errorf("eps 0: %v, clean %v", values(a.Doc.Scores), values(a.Doc.Clean))
		}
		if i > 0 && fmt.Sprint(values(a.Doc.Scores)) == fmt.Sprint(values(a.Doc.Clean)) {
			t.Errorf("eps %v does nothing", p.Eps)
		}
	}
	for _, c := range []struct {
		eps  []float64
		want string
	}{
		{nil, "one eps or more"}, {[]float64{0.1, 0.1}, "0.1 is given twice"}, {[]float64{-1}, "eps is -1"}, {[]float64{0, 77}, "write 8/255 for 8"},
	} {
		if _, err := Curve(context.Background(), r, "last", "test", o, c.eps, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.eps, err, c.want)
		}
	}
}

// values drops what is not the numbers; maps print in the order of their keys.
func values(scores map[string]record.Scores) map[string][]float64 {
	out := map[string][]float64{}
	for v, list := range scores {
		for _, s := range list {
			out[v] = append(out[v], s.Value.Value, s.CI95[0], s.CI95[1])
		}
	}
	return out
}

// The whole suite in the document: keys, ERS of the means, its ceiling, and the
// queries that were right.
func TestSuite(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "model.normalize=true")
	suite, err := attack.Suite("ers")
	if err != nil {
		t.Fatal(err)
	}
	o := record.AttackOptions{Attacks: suite, Draws: 2, Bootstrap: 20, Seed: 1, Queries: 20, Batch: 8}
	if err := Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 3
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if opt := a.Doc.Options; len(opt.Variants) != 2 || opt.W != 1 || opt.M != 1 || opt.Draws != 2 || a.Doc.Queries != 20 || len(a.Doc.Attacks) != 9 {
		t.Errorf("%+v", a.Doc)
	}
	for _, variant := range []string{"published", "fixed"} {
		for what, list := range map[string]record.Scores{"scores": a.Doc.Scores[variant], "clean": a.Doc.Clean[variant], "right": a.Doc.RightWhenClean[variant].Scores} {
			if got, want := fmt.Sprint(run.KeysOf(list)), fmt.Sprint(attack.Keys(suite)); got != want || list[10].Key != "ERS" {
				t.Errorf("%s, %s: keys %s, want %s", variant, what, got, want)
				continue
			}
			want := attack.RobustnessScore(func(key string) float64 {
				v, _ := list.Get(key)
				return v.Value
			})
			ers := list[10]
			if math.Abs(ers.Value.Value-want) > 1e-12 || !(ers.CI95[0] <= want && want <= ers.CI95[1]) {
				t.Errorf("%s, %s: ERS %v in %v, of the means %v", variant, what, ers.Value.Value, *ers.CI95, want)
			}
			if gtt, _ := list.Get("GTT"); what == "clean" && gtt.Value != 1 {
				t.Errorf("%s: clean GTT %v", variant, gtt.Value)
			}
		}
		clean, _ := a.Doc.Clean[variant].Get("LTM")
		if n := a.Doc.RightWhenClean[variant].Queries; n == 0 || variant == "fixed" && math.Abs(clean.Value-float64(n)/20) > 1e-12 {
			t.Errorf("%s: %d queries were right, recall %v", variant, n, clean.Value)
		}
		if a.Doc.Scores[variant][10].Value.Value >= a.Doc.Clean[variant][10].Value.Value {
			t.Errorf("%s: ERS %v under attack, ceiling %v", variant, a.Doc.Scores[variant][10].Value.Value, a.Doc.Clean[variant][10].Value.Value)
		}
	}
	// 36 images: the candidates cannot be more.
	o.Attacks, o.M = []string{"QA+"}, 37
	if _, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), "the gallery has 36 images") {
		t.Error(err)
	}
}
