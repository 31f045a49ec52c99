package worst

import (
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// Clean is the member that does nothing: queries whose first row is wrong as it is.
const Clean = "clean"

// Radius is the member that breaks no query but measures the broken ones.
const Radius = "radius"

// member is one attack of the ensemble.
type member struct {
	name, doc string
	run       func(r *runner, b *batch) error
	// prepare, where there is one, comes before the batches, with all surviving queries.
	prepare func(r *runner, survivors []int) error
	norms   []adversary.Norm // in which it runs; none: in all
	after   bool             // runs on the queries that are broken by an attack, to measure them
	plus    bool             // only in the version Plus
	late    bool             // comes after all galleries, so that it changes nothing before it
	most    int              // runs on so many of the queries that are left; 0: on all
}

// The versions of the ensemble. What Standard breaks Plus breaks, too.
const (
	Standard = "standard"
	Plus     = "plus"
)

// Versions lists them, the default first.
func Versions() []string { return []string{Standard, Plus} }

// fewest is how many queries are left, at most, to attacks that see decisions or ranks alone.
const fewest = 200

// ensemble lists the members in the order in which they run.
func ensemble() []member {
	return []member{
		{name: Clean, doc: "the unperturbed image", run: (*runner).cleans},
		{name: transfer, doc: "the adversarial images kept from earlier galleries", run: (*runner).transfers},
		{name: "copy", doc: "towards the pixels of 5 wrong images, and the gray image", run: (*runner).copies, prepare: (*runner).nearestPixels},
		{name: "noise", doc: "100 random points of the ball", run: (*runner).noise},
		{name: "apgd-m", doc: "APGD on the margin, from the clean image and from a random one", run: (*runner).apgdMargin},
		{name: "md", doc: "APGD on one part of the margin, then on the margin, 5 times", run: (*runner).decomposed},
		{name: "apgd-s", doc: "APGD on the soft margin, from a random image", run: (*runner).apgdSoft},
		{name: "apgd-c", doc: "APGD at 9 other labels, from random images", run: (*runner).apgdClasses},
		{name: "apgd-t", doc: "APGD at 3 wrong rows with the nearest cells (few labels: up to 11)", run: (*runner).apgdTargets},
		{name: "fab-t", doc: "FAB at 9 such rows: the smallest perturbation", run: (*runner).fabTargets},
		{name: "square", doc: "Square: 5,000 random squares, by the margin alone", run: (*runner).square},
		{name: "apgd-r", doc: "APGD on the ratio of distances, from 5 random images", run: (*runner).apgdRatio, plus: true},
		{name: "shift", doc: "APGD on the shift of the embedding, from 5 random images", run: (*runner).shifts, plus: true},
		{name: "square-rank", doc: "Square, by ranks alone, on 200 queries at most", run: (*runner).squareRank, plus: true, most: fewest},
		{name: "rays", doc: "RayS, by decisions alone, on 200 queries at most (linf)", run: (*runner).rays, plus: true, most: fewest, norms: []adversary.Norm{adversary.Linf}},
		{name: others, doc: "images that break other networks, if given", run: (*runner).fromOthers},
		{name: Radius, doc: "FAB on the broken queries, for their smallest perturbation", run: (*runner).radii, after: true},
		{name: given, doc: "your own adversarial images, if given", run: (*runner).givens, late: true},
	}
}

const (
	transfer = "transfer" // which a first gallery does not have
	given    = "given"    // which runs where there are such images
	others   = "others"   // which runs where there are such networks
)

// membersOf lists the members that run in gallery number at.
func (o *Options) membersOf(at int) []member {
	return slices.DeleteFunc(slices.Clone(o.members), func(m member) bool {
		return m.name == transfer && at == 0 || m.name == given && o.Given == nil || m.name == others && o.Others == nil ||
			m.plus && o.Version != Plus || m.norms != nil && !slices.Contains(m.norms, o.Norm)
	})
}

// Planned lists the members that run in gallery number at by o: what a result of the same
// options has.
func Planned(o Options, at int) (names []string, err error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	for _, m := range o.membersOf(at) {
		names = append(names, m.name)
	}
	return names, nil
}

// Described is a member's name with what it does.
type Described struct {
	Name, Doc string
	Plus      bool // only in the version Plus
}

// Members lists the attacks of the ensemble in their order.
func Members() []Described {
	var out []Described
	for _, m := range ensemble() {
		out = append(out, Described{m.name, m.doc, m.plus})
	}
	return out
}

func (r *runner) apgdMargin(b *batch) error {
	if err := r.apgd(b, marginLoss{}, adversary.FromClean, 0); err != nil {
		return err
	}
	return r.apgd(b, marginLoss{}, adversary.FromRandom, 1)
}

func (r *runner) apgdSoft(b *batch) error {
	r.field.aim(b.items)
	return r.apgd(b, newSoftLoss(r.field, b.clean), adversary.FromRandom, 0)
}

// aims lists the rows that each query of b is aimed at, at most perLabel of a label where there
// are labels enough, and how many the longest list has.
func (r *runner) aims(b *batch, perLabel int) (aims [][]int32, most int) {
	r.field.aim(b.items)
	r.field.find(b.clean, cellRows)
	aims = make([][]int32, len(b.items))
	for i := range aims {
		if aims[i] = r.field.cells(i, b.clean.Row(i), aimed, perLabel); len(aims[i]) == 0 {
			aims[i] = []int32{r.field.right(i)[0].Row} // there is no wrong row: nothing to aim at
		}
		most = max(most, len(aims[i]))
	}
	return aims, most
}

// perLabel is how many of the rows that a query is aimed at may be of one label.
func (r *runner) perLabel() int {
	return max(targetLabel, (aimed+r.field.labels()-2)/max(1, r.field.labels()-1))
}

// aimed is the number of runs that are aimed at labels and at rows together.
const aimed = targets + 3

// apgdTargets aims at one row after another; queries with fewer of them keep their last. On two
// c2f2 trained on all of MNIST, 9 rows broke no query that the margin, its parts and 9 labels
// had left.
func (r *runner) apgdTargets(b *batch) error {
	aims, most := r.aims(b, r.perLabel())
	for k := range min(most, aimed-min(targets, r.field.labels()-1)) {
		l := &itemLoss{}
		for _, a := range aims {
			l.targets = append(l.targets, a[min(k, len(a)-1)])
		}
		if err := r.apgd(b, l, adversary.FromClean, k); err != nil {
			return err
		}
	}
	return nil
}

// apgd runs APGD on the queries of b that are not broken yet. run counts the runs of the
// member; random starts depend on it.
func (r *runner) apgd(b *batch, l loss, start adversary.Start, run int) error {
	p := r.pgd
	p.Start = start
	return r.craft(b, l, p, run, nil)
}

// craft is apgd with other settings. images, where there are, are one for each query of b:
// where p begins, if it is FromOut, and then what it ends with.
func (r *runner) craft(b *batch, l loss, p adversary.PGD, run int, images *array.Array) error {
	rows := b.open()
	if len(rows) == 0 {
		return nil
	}
	w := r.sub.take(b, rows)
	if images != nil {
		for k, i := range rows {
			copy(w.adv.Row(k), images.Row(i))
		}
	}
	r.field.aim(w.items)
	seed := rng.New(r.o.Seed, "worst."+r.member.name, uint64(run)).Uint64()
	a, err := p.RunUntil(r.model, w.x, w.ids, &goal{ctx: r.ctx, f: r.field, loss: l.of(rows)}, seed, w.adv)
	if err != nil {
		return r.about(w.items, err)
	}
	r.cost.Add(a.Cost)
	for k, i := range rows {
		b.claimed[i] = a.Reached[k]
		if images != nil {
			copy(images.Row(i), w.adv.Row(k))
		}
	}
	r.keepBest(b, rows, w)
	return r.settle(b, rows, w.adv)
}
