package robustness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/rundir"
	"tercet/internal/stat"
)

// The scores of a worst case.
const (
	Recall     = "recall@1"
	WorstCase  = record.WorstCase
	worstRight = WorstCase + ":right" // of queries that are right when clean
	worstEight = WorstCase + ":8bit"  // images are rounded to 8 bits
)

// WorstScores lists the scores of a worst case where a query is broken if none of its k
// nearest rows is right; 0 is 1.
func WorstScores(k int) []string {
	out := []string{Recall, WorstCase, worstRight, worstEight}
	for i, s := range out {
		out[i] = strings.Replace(s, "@1", fmt.Sprintf("@%d", max(k, 1)), 1)
	}
	return out
}

// HoldsWorst reports whether d covers the request o, with today's ensemble of attacks.
func HoldsWorst(d *record.Worst, o record.WorstOptions) bool {
	if !d.Holds(o) || o.Moves && (d.Moved == nil || d.Moved.Hub == nil) {
		return false
	}
	return rundir.ByTodaysAttacks(d)
}

// worstOptions are options as the ensemble takes them, without what is no setting.
func worstOptions(o record.WorstOptions) worst.Options {
	return worst.Options{
		Version: o.Version, Norm: adversary.Norm(o.Norm), Eps: o.Eps, Galleries: o.Galleries, K: o.K, Queries: o.Queries, Sample: o.Sample, Seed: o.Seed,
		Battery: o.Battery, Moves: o.Moves,
	}
}

// WorstPlan is what Worst is asked for.
type WorstPlan struct {
	Checkpoint, Set string
	Options         record.WorstOptions
	// Part is the file of unfinished work: one of the same work is continued, another is an
	// error unless it is to be replaced.
	Part    string
	Replace bool
	Given   *worst.Given // images of others; Options.Given is their digest
	Others  []*run.Run   // whose networks images are made for; Options.Transfer says which
	Program string       // the version of the program, of which unfinished work is
}

// WorstAttacked is what a worst case was computed from, with the images.
type WorstAttacked struct {
	Result   *worst.Result
	Embedded *run.Embedded
	Gallery  *retrieval.Gallery
}

// Worst runs the ensemble of attacks on a run's network.
func Worst(ctx context.Context, r *run.Run, p WorstPlan, say progress.Say) (*record.Worst, *WorstAttacked, error) {
	start := time.Now()
	published, err := publishedAttacks(r, p)
	if err != nil {
		return nil, nil, err
	}
	e, g, err := gallery(ctx, r, p.Checkpoint, p.Set, say)
	if err != nil {
		return nil, nil, err
	}
	direct, err := verifier(r, p.Checkpoint)
	if err != nil {
		return nil, nil, err
	}
	o := p.Options
	part := &worstPart{path: p.Part, of: record.WorstHeader{
		Program: p.Program, Kernel: kernel.Setting(), Config: e.Source.Config, Checkpoint: p.Checkpoint, Step: e.Source.Step, Fingerprint: e.Source.Fingerprint, Options: o,
	}}
	resume, err := part.read(p.Replace)
	if err != nil {
		return nil, nil, err
	}
	what := worstOptions(o)
	if what.Others, err = otherNetworks(ctx, p, e, say); err != nil {
		return nil, nil, err
	}
	what.Given, what.Verifier, what.Progress, what.Resume, what.Keep = p.Given, direct, say.Of("attack"), resume, part.write
	res, err := worst.Run(ctx, e.Model, e.Data, g, what)
	if err != nil {
		return nil, nil, err
	}
	doc := &record.Worst{
		Schema: record.WorstSchema, Source: e.Source, Options: o, Queries: len(res.Queries), Excluded: res.Excluded,
		Items: packItems(res.Queries), Cost: record.CostRecord{Cost: res.Cost},
	}
	for k, s := range res.Galleries {
		w, err := worstGallery(e, res, s, o.K)
		if err != nil {
			return nil, nil, err
		}
		w.Rows = res.Rows[k]
		doc.Galleries = append(doc.Galleries, w)
	}
	doc.Moved = worstMoved(res.Moved)
	if res.Checks != nil {
		c, is, err := againstPublished(published, doc)
		if err != nil {
			return nil, nil, err
		}
		if is {
			res.Checks = append(res.Checks, c)
		}
	}
	doc.Checks = worstChecks(res.Checks)
	doc.Warnings = append(worstWarnings(doc, g, res), r.Omitted()...)
	doc.Cost.Forward += int64(e.Data.Len())
	doc.Cost.Seconds = time.Since(start).Seconds()
	return doc, &WorstAttacked{res, e, g}, nil
}

// verifier is the network of a checkpoint with the direct kernels.
func verifier(r *run.Run, checkpoint string) (*nn.Model, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, err
	}
	m.ComputeDirectly()
	return m, nil
}

// worstGallery is the record of a gallery.
func worstGallery(e *run.Embedded, res *worst.Result, s *worst.State, k int) (record.WorstGallery, error) {
	w := record.WorstGallery{Gallery: s.Gallery, Scores: worstScores(s, k)}
	for _, m := range s.Ran {
		w.Members = append(w.Members, record.WorstMember{
			Member: m.Member, Attacked: m.Attacked, Claimed: m.Claimed, Broken: m.Broken, Verified: m.Verified,
			Cost: record.CostRecord{Cost: m.Cost, Seconds: m.Seconds},
		})
	}
	by, linf, l2 := make([]float64, len(s.By)), make([]float64, len(s.By)), make([]float64, len(s.By))
	clean := make([]float32, s.Images.Cols())
	for i, member := range s.By {
		by[i] = float64(member)
		if err := e.Data.Read(res.Queries[i], clean); err != nil {
			return w, fmt.Errorf("image %d of the set: %w", res.Queries[i], err)
		}
		if member > 0 {
			linf[i], l2[i] = moved(clean, s.Images.Row(i))
		}
	}
	w.Broken, w.Linf, w.L2, w.Margin, w.Radius = record.Pack(by), record.Pack(linf), record.Pack(l2), record.Pack(s.Margin), record.Pack(s.Radius)
	return w, nil
}

// worstChecks are the records of a battery. A value that is not a number is -1, which no
// check has.
func worstChecks(list []worst.Check) []record.WorstCheck {
	var out []record.WorstCheck
	for _, c := range list {
		w := record.WorstCheck{ID: c.ID, What: c.What, Value: c.Value, Warn: c.Warn, Verdict: c.Verdict()}
		if !math.IsInf(c.Fail, 1) {
			w.Fail = &c.Fail
		}
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			w.Value = -1
		}
		out = append(out, w)
	}
	return out
}

func moved(a, b []float32) (linf, l2 float64) {
	for k, v := range a {
		linf = max(linf, math.Abs(float64(v)-float64(b[k])))
	}
	return linf, math.Sqrt(kernel.SquaredDistanceLanes(a, b))
}

// MovedScores are the scores where the gallery moves.
func MovedScores() []string { return []string{"wcR@1:G1", "wcR@1:GA"} }

// worstMoved is the record of attacks on the gallery, nil where there were none.
func worstMoved(m *worst.Moved) *record.WorstMoved {
	if m == nil {
		return nil
	}
	out := &record.WorstMoved{One: packBools(m.One), All: packBools(m.All), Cost: record.CostRecord{Cost: m.Cost}}
	for k, list := range [][]bool{m.One, m.All} {
		left, key := len(list)-count(list), MovedScores()[k]
		ci := stat.Wilson(left, len(list))
		out.Scores = append(out.Scores, record.Score{Key: key, Value: record.Value{Value: float64(left) / float64(len(list)), CI95: &ci, Definition: key + "(q)"}})
	}
	if h := m.Hub; h != nil {
		out.Hub, out.Asked = &h.Image, h.Queries
		for _, v := range []struct {
			key string
			n   int
		}{{"hub@1", h.Moved}, {"hub@1:clean", h.Clean}} {
			ci := stat.Wilson(v.n, h.Queries)
			out.Scores = append(out.Scores, record.Score{Key: v.key, Value: record.Value{Value: float64(v.n) / float64(h.Queries), CI95: &ci, Definition: v.key + "(q)"}})
		}
	}
	return out
}

// worstScores are the shares of queries, with Wilson's intervals: a bootstrap of no query
// among many has no width. A share of no query is left out.
func worstScores(s *worst.State, k int) record.Scores {
	c, keys := s.Counts(), WorstScores(k)
	var out record.Scores
	for i, v := range []struct{ k, n int }{{c.Right, c.Queries}, {c.Robust, c.Queries}, {c.Robust, c.Right}, {c.Robust8, c.Queries}} {
		if v.n == 0 {
			continue
		}
		ci := stat.Wilson(v.k, v.n)
		out = append(out, record.Score{Key: keys[i], Value: record.Value{Value: float64(v.k) / float64(v.n), CI95: &ci, Definition: keys[i] + "(q)"}})
	}
	return out
}

// verified is the least share of claimed successes that verification should find broken.
const verified = 0.999

func worstWarnings(d *record.Worst, g *retrieval.Gallery, res *worst.Result) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	first := d.Galleries[0]
	if r, ok := first.Scores.Get(Recall); ok && first.Gallery == worst.Full {
		if chance := g.Chance(res.Queries); r.Value-chance < atChance*(1-chance) {
			add("recall@1 without attack is %.4f, near chance (%.4f): the model retrieves nothing that could be robust", r.Value, chance)
		}
	}
	for _, w := range d.Galleries {
		claimed, broken := 0, 0
		for _, m := range w.Members {
			claimed, broken = claimed+m.Claimed, broken+m.Broken
		}
		if float64(broken) < verified*float64(claimed) {
			add("gallery %s: verification finds %d of %d broken images broken; the others depend on rounding", w.Gallery, broken, claimed)
		}
	}
	var failed []string
	for _, c := range d.Checks {
		if c.Verdict == worst.Fail {
			failed = append(failed, c.ID)
		}
	}
	if failed != nil {
		add("not a robustness claim: the checks %s fail; gradients may be masked", strings.Join(failed, ", "))
	}
	if d.Options.Battery && len(d.Checks) == 0 {
		why := "no query is right without an attack"
		if d.Options.Eps == 0 {
			why = "at eps 0 nothing is attacked"
		}
		add("no check for masked gradients was run: %s", why)
	}
	if slices.Contains(d.Options.Galleries, worst.Full) && d.Excluded > 0 {
		add("%d queries were not attacked: no image that they are compared with has their label, or all have", d.Excluded)
	}
	return out
}
