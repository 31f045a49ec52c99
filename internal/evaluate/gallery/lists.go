package gallery

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"tercet/internal/data/fault"
	"tercet/internal/engine/kernel"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/option"
	"tercet/internal/par"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/text"
	"tercet/internal/vectors"
)

// Lists evaluates lists of neighbors that another program found: how many of the nearest
// items they hold, by exact search, and, with labels, scores of the lists and of the exact
// ones, which are the document's baseline "exact". With more false, an o.Eval.Ks beyond the
// lists is left out; otherwise it is an error.
func Lists(ctx context.Context, o Options, more bool, say progress.Say) (*evaluate.Evaluation, error) {
	in := &input{o: o}
	defer in.close()
	if err := in.identify(ctx, say); err != nil {
		return nil, err
	}
	ks, length, warnings, err := in.cleanLists(o.Eval.Ks, more)
	if err != nil {
		return nil, err
	}
	in.o.Eval.Ks = ks
	depth := slices.Max(ks)
	var relevant []int32
	whole := false
	if in.labels != nil {
		relevant = metric.RelevantOf(in.queryLabels, in.labels, in.q == nil)
		switch most := int(slices.Max(relevant)); {
		case most == 0:
			return nil, fault.Unfit("no query of %s has another item of its class in %s", in.queries().Path(), o.Embeddings)
		case most <= length:
			whole, depth = true, max(depth, most)
		default:
			warnings = append(warnings, fmt.Sprintf("map@r and r_precision are left out: they take lists of %d items, as many as the largest class has others", most))
		}
	}
	exact, distances, err := in.exactLists(ctx, depth, say)
	if err != nil {
		return nil, err
	}
	found, err := in.listed(ctx, exact, distances, slices.Max(ks), say)
	if err != nil {
		return nil, err
	}
	doc := &record.Eval{Schema: record.EvalSchema, Source: in.src, Options: in.o.Eval, Warnings: append(warnings, evaluate.Coarse(o.Eval)...)}
	intervals := evaluate.Intervals(o.Eval)
	if doc.Retrieval, err = metric.NearestFound(ctx, found, slices.Max(ks), distances, depth, ks, intervals); err != nil {
		return nil, err
	}
	if in.q != nil {
		doc.Searched, doc.Gallery = in.q.Len(), in.g.Len()
	}
	if in.labels == nil {
		return &evaluate.Evaluation{Doc: doc}, nil
	}
	base := record.Evaluated{}
	for _, side := range []struct {
		l  metric.Lists
		to *record.Evaluated
	}{{in.lists, &doc.Evaluated}, {exact, &base}} {
		r, err := metric.RetrieveLists(ctx, side.l, in.queryLabels, in.labels, relevant, ks, whole, intervals)
		if err != nil {
			return nil, err
		}
		side.to.Retrieval, side.to.Excluded = append(side.to.Retrieval, r.Scores...), r.Excluded
	}
	doc.Baselines = map[string]record.Evaluated{"exact": base}
	return &evaluate.Evaluation{Doc: doc}, nil
}

// queries are the rows that are searched for.
func (in *input) queries() *vectors.File {
	if in.q != nil {
		return in.q
	}
	return in.g
}

func (in *input) readLists() error {
	l, err := vectors.ReadNeighbors(in.o.Lists, in.g.Len())
	if err != nil {
		return err
	}
	if q := in.queries(); l.N != q.Len() {
		return fault.Unfit("%s has %d lists, and %s", in.o.Lists, l.N, rowsWords(q))
	}
	in.lists = metric.Lists{K: l.K, Index: l.Index}
	return nil
}

// cleanLists takes out of the lists what is no neighbor, and returns the k that they are
// long enough for, and how long they are.
func (in *input) cleanLists(ks []int, more bool) (_ []int, length int, warnings []string, err error) {
	l := in.lists
	length = l.K
	own := ""
	if in.q == nil {
		if n := l.DropOwn(); n > 0 {
			length--
			own = " without the query itself"
			said := text.Plural(n, "list is scored", "lists are scored") + " without the query's own row, which is no neighbor"
			if n < l.Len() {
				said += "; the other lists without their last item"
			}
			warnings = append(warnings, said)
			for q := range l.Len() {
				l.Of(q)[l.K-1] = -1
			}
		}
	}
	if n := l.DropRepeated(); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%s an item twice or more, which counts once", text.Plural(n, "list names", "lists name")))
	}
	var fit []int
	for _, k := range ks {
		if k <= length {
			fit = append(fit, k)
		} else if more {
			return nil, 0, nil, option.Errorf("recall@%d takes lists of %d items, and %s has %d%s", k, k, in.o.Lists, length, own)
		}
	}
	if fit == nil {
		return nil, 0, nil, fault.Unfit("%s has lists of %d items%s: too short for any score", in.o.Lists, length, own)
	}
	if most := in.g.Len(); in.q == nil && slices.Max(fit) > most-1 || slices.Max(fit) > most {
		return nil, 0, nil, fault.Unfit("%s has %d items: too few for recall@%d", in.o.Embeddings, most, slices.Max(fit))
	}
	return fit, length, warnings, nil
}

// listed are the distances of the first k items of each list, +Inf for none. An item that
// exact search has found has its distance there.
func (in *input) listed(ctx context.Context, exact metric.Lists, distances []float64, k int, say progress.Say) ([]float64, error) {
	n := in.lists.Len()
	out := make([]float64, n*k)
	const part = 256
	errs := make([]error, (n+part-1)/part)
	var done atomic.Int64
	par.For(n, part, func(lo, hi int) {
		d := in.g.Dim()
		x, g := make([]float32, d), make([]float32, d)
		err := ctx.Err()
		for q := lo; q < hi && err == nil; q++ {
			read := false
			for i, item := range in.lists.Of(q)[:k] {
				to := &out[q*k+i]
				*to = math.Inf(1)
				if item < 0 {
					continue
				}
				if at := slices.Index(exact.Of(q), item); at >= 0 {
					*to = distances[q*exact.K+at]
					continue
				}
				if !read {
					err, read = in.rows(in.queries(), q, x), true
				}
				if err == nil {
					err = in.rows(in.g, int(item), g)
				}
				*to = math.Sqrt(kernel.SquaredDistanceLanes(x, g))
			}
		}
		errs[lo/part] = err
		done.Add(int64(hi - lo))
	})
	say("distances of the lists", int(done.Load()), n)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
