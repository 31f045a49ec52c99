package attack

import (
	"errors"
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// job is one attack in all variants.
type job struct {
	ran     *Ran
	of      *victims
	aimed   *retrieval.Gallery // whose rows targets are
	methods []Method           // by variant
	draws   int
	first   int // column of its first score in the result
	kept    []*Pictures

	out       [][]float64 // (scores, B)
	different []int
}

// batch is the record of the batch at hand.
func (j *job) batch() *record.AttackBatch { return &j.ran.Batches[len(j.ran.Batches)-1] }

// jobs makes the methods of all attacks, so that a wrong one is known before the
// first is run, and room for their scores.
func (r *runner) jobs() ([]*job, error) {
	pictured := r.o.PictureAttacks
	if len(r.o.Attacks) == 0 {
		return nil, errors.New("attack: no attack is named")
	}
	if pictured == nil {
		pictured = []string{Shown(r.o.Attacks)}
	}
	for _, name := range pictured {
		if !slices.Contains(r.o.Attacks, name) {
			return nil, fmt.Errorf("attack: pictures of %s are requested, but it is not among the attacks", name)
		}
	}
	var jobs []*job
	for i, name := range r.o.Attacks {
		if slices.Contains(r.o.Attacks[:i], name) {
			return nil, fmt.Errorf("attack: %s is named twice", name)
		}
		j, err := r.job(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(pictured, name) {
			j.kept = r.result.picture(name, r.o.Pictures, r.full.x, j.of)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// job makes the methods of one attack and columns for their scores.
func (r *runner) job(name string) (*job, error) {
	j := &job{ran: &Ran{Attack: name}, of: r.queries, aimed: r.gallery, draws: 1, first: len(r.result.Scored[0].Keys)}
	if perturbsCandidates(name) {
		j.of, j.aimed = r.candidates, r.gallery.Queries()
	}
	if uses([]string{name}, Draws) {
		j.draws = r.o.Draws
	}
	n := len(r.result.Queries)
	for k, v := range r.o.Variants {
		m, err := r.methods(name, r.gallery, v, r.o.Method)
		if err != nil {
			return nil, err
		}
		j.methods = append(j.methods, m)
		if j.ran.Keys = m.Scores(); k > 0 && !slices.Equal(j.ran.Keys, j.methods[0].Scores()) {
			return nil, fmt.Errorf("attack %s: its variants have different scores, %v and %v", name, j.methods[0].Scores(), j.ran.Keys)
		}
		s := &r.result.Scored[k]
		for _, key := range j.ran.Keys {
			s.Keys = append(s.Keys, key)
			s.Adversarial, s.Clean = append(s.Adversarial, make([]float64, n)), append(s.Clean, make([]float64, n))
		}
	}
	for range j.ran.Keys {
		j.out = append(j.out, make([]float64, r.full.x.Rows()))
	}
	return j, nil
}

// batch attacks the queries in full with all variants.
func (r *runner) batch(j *job, draw int) error {
	w := &r.full
	for k, m := range j.methods {
		if err := m.Aim(&w.batch, draw); err != nil {
			return fmt.Errorf("%s: %w", r.o.Variants[k], err)
		}
	}
	for k, m := range j.methods {
		into := r.result.Scored[k].Clean[j.first:]
		j.score(m, w, w.batch.Clean, w.batch.Clean, into, nil)
		if r.o.PGD.Eps == 0 {
			for s := range j.ran.Keys {
				for _, p := range w.places {
					r.result.Scored[k].Adversarial[j.first+s][p] = into[s][p]
				}
			}
		}
	}
	if r.o.PGD.Eps == 0 {
		j.still(w, draw)
		return nil
	}
	report, err := r.craft(j, j.methods[0], w)
	if err != nil {
		return err
	}
	for k, m := range j.methods {
		same := j.compare(m, w)
		if len(j.different) < len(w.places) {
			j.score(m, w, report.Embedding, report.Previous, r.result.Scored[k].Adversarial[j.first:], same)
			j.keep(k, w, report.Embedding, same, draw)
		}
		if k > 0 {
			j.batch().Shared += len(w.places) - len(j.different)
		}
	}
	// The rest has its own images in the second variant.
	if len(j.methods) < 2 || len(j.different) == 0 {
		return nil
	}
	m := j.methods[1]
	if len(j.different) < len(w.places) {
		w = &r.part
		w.take(&r.full, j.different)
		if err := m.Aim(&w.batch, draw); err != nil {
			return fmt.Errorf("%s: %w", r.o.Variants[1], err)
		}
	}
	if report, err = r.craft(j, m, w); err != nil {
		return fmt.Errorf("%s: %w", r.o.Variants[1], err)
	}
	j.score(m, w, report.Embedding, report.Previous, r.result.Scored[1].Adversarial[j.first:], nil)
	j.keep(1, w, report.Embedding, nil, draw)
	return nil
}

// compare lists in j.different the rows whose image m would craft otherwise than
// the first method, and returns a mark for each that is the same.
func (j *job) compare(m Method, w *workspace) []bool {
	same := make([]bool, len(w.places))
	j.different = j.different[:0]
	kind := m.Kind() == j.methods[0].Kind()
	for i := range same {
		if same[i] = kind && slices.Equal(m.Targets(i), j.methods[0].Targets(i)); !same[i] {
			j.different = append(j.different, i)
		}
	}
	return same
}

// craft writes to w.adv the images of w under method m.
func (r *runner) craft(j *job, m Method, w *workspace) (*adversary.Report, error) {
	w.first = append(w.first[:0], make([]float64, len(w.places))...)
	r.goal.goal, r.goal.first = m, w.first
	report, err := r.o.PGD.Run(r.model, w.x, w.ids, &r.goal, r.o.Seed, w.adv)
	if err != nil {
		var bad *adversary.ImageError
		if errors.As(err, &bad) {
			err = fmt.Errorf("item %d of the set: %w", w.batch.Items[bad.Image], err)
		}
		return nil, err
	}
	b, rec := len(w.places), j.batch()
	rec.Crafted += b
	rec.Cost.Add(record.Cost{Forward: int64(b) * int64(report.Forward), Backward: int64(b) * int64(report.Backward)})
	rec.Linf, rec.L2 = append(rec.Linf, report.Linf...), append(rec.L2, report.L2...)
	rec.Zero = append(rec.Zero, float64(report.ZeroGradient*float64(b)))
	return report, nil
}

// score adds the scores of the marked rows of w, or of all, to the queries'.
func (j *job) score(m Method, w *workspace, z, previous *array.Array, into [][]float64, marked []bool) {
	for s := range j.out {
		j.out[s] = j.out[s][:len(w.places)]
	}
	m.Score(z, previous, j.out)
	for s, row := range j.out {
		for i, p := range w.places {
			if marked == nil || marked[i] {
				into[s][p] += row[i] / float64(j.draws)
			}
		}
	}
}

// finish records what the attack did.
func (j *job) finish(r *Result, seconds float64) {
	var linf, l2 []float64
	zero := 0.0
	for _, b := range j.ran.Batches {
		j.ran.Crafted += b.Crafted
		j.ran.Shared += b.Shared
		j.ran.Cost.Add(b.Cost)
		linf, l2 = append(linf, b.Linf...), append(l2, b.L2...)
		for _, z := range b.Zero {
			zero += z
		}
	}
	j.ran.Radius = adversary.RadiusOf(linf, l2)
	if j.ran.Crafted > 0 {
		j.ran.ZeroGradient = zero / float64(j.ran.Crafted)
	}
	j.ran.Seconds = seconds
	r.Attacks = append(r.Attacks, *j.ran)
	r.Cost.Add(j.ran.Cost)
	*j = job{} // its tables are free for the next attack's
}
