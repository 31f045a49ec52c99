package attack

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
)

// twoSided is a set of 30 images of three classes: queries, a gallery that shares four images with
// them, images that are neither, and sequences across both.
type twoSided struct {
	tried
	sides  retrieval.Sides
	labels []int32
	z      *array.Array // clean embeddings of all
}

func newTwoSided(t *testing.T) *twoSided {
	t.Helper()
	m := newModel(5, 6, 8, 3)
	s, labels := newSet(6, 30, 3)
	a := &twoSided{labels: labels, z: galleryOf(m, s)}
	a.sides.Sequence = make([]int32, 30)
	for i := range 30 {
		a.sides.Sequence[i] = -1
		if i < 12 {
			a.sides.Query = append(a.sides.Query, i)
		}
		if i >= 8 && i < 28 {
			a.sides.Gallery = append(a.sides.Gallery, i)
		}
		if i%5 == 1 {
			a.sides.Sequence[i] = int32(i % 2)
		}
	}
	g, err := retrieval.NewGalleryOf(a.z, labels, a.sides)
	if err != nil {
		t.Fatal(err)
	}
	a.tried = tried{m, s, g, Options{PGD: Profile{Name: "tiny", Eps: 0.1, Step: 0.02, Iterations: 6}.PGD(), Seed: 1, Pictures: 100, Draws: 1}}
	return a
}

// seen are the images that a query is compared with.
func (a *twoSided) seen(q int) []int {
	var out []int
	for _, j := range a.sides.Gallery {
		if j != q && (a.sides.Sequence[j] < 0 || a.sides.Sequence[j] != a.sides.Sequence[q]) {
			out = append(out, j)
		}
	}
	return out
}

// far is the distance of an embedding from image j.
func (a *twoSided) far(z []float32, j int) float64 { return distance(z, a.z.Row(j), 0) }

// order sorts images by their distance from an embedding.
func (a *twoSided) order(z []float32, list []int) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(i, j int) int {
		if a.far(z, i) < a.far(z, j) {
			return -1
		}
		return 1
	})
	return list
}

func (a *twoSided) where(list []int, f func(j int) bool) []int {
	return slices.DeleteFunc(slices.Clone(list), func(j int) bool { return !f(j) })
}

// hinges is the mean of max(0, sign (d(z, t) - d(z, x))) over the gallery.
func (a *twoSided) hinges(z []float32, at, sign float64) float64 {
	sum := 0.0
	for _, x := range a.sides.Gallery {
		sum += math.Max(0, sign*(at-a.far(z, x)))
	}
	return sum / float64(len(a.sides.Gallery))
}

// Every attack on queries of a gallery against loops over the images: what is attacked,
// what it is aimed at, the first objective and the scores.
func TestAttacksOnQueriesOfAGallery(t *testing.T) {
	t.Parallel()
	a := newTwoSided(t)
	a.o.Attacks = []string{"CA+", "CA-", "QA+", "QA-", "TMA", "ES", "LTM", "GTM", "GTT", "FNA"}
	a.o.PictureAttacks = a.o.Attacks
	r, err := a.run(NewMethod)
	if err != nil {
		t.Fatal(err)
	}
	// Image 1 is of a sequence, as are 11, 21 of its gallery: others of its class remain.
	var able []int
	for _, q := range a.sides.Query {
		same := a.where(a.seen(q), func(j int) bool { return a.labels[j] == a.labels[q] })
		if len(same) > 0 && len(same) < len(a.seen(q)) {
			able = append(able, q)
		}
	}
	if !slices.Equal(r.Queries, able) || r.Excluded != len(a.sides.Query)-len(able) || len(r.Candidates) != len(able) {
		t.Fatalf("queries %v of %v, %d left out, candidates %v", r.Queries, able, r.Excluded, r.Candidates)
	}
	if len(r.Scored) != 1 || r.Scored[0].Variant != Fixed || !slices.Contains(r.Scored[0].Keys, ERS) {
		t.Fatalf("%+v", r.Scored)
	}
	chance := 0.0
	for _, q := range able {
		same := a.where(a.seen(q), func(j int) bool { return a.labels[j] == a.labels[q] })
		chance += float64(len(same)) / float64(len(a.seen(q))) / float64(len(able))
	}
	if math.Abs(r.Chance-chance) > 1e-12 {
		t.Errorf("chance %v, want %v", r.Chance, chance)
	}
	for _, p := range r.Pictures {
		for at, item := range p.Items {
			a.checkOne(t, r, p, at, item)
		}
	}
}

// checkOne compares one attacked image with the loops.
func (a *twoSided) checkOne(t *testing.T, r *Result, p *Pictures, at, item int) {
	t.Helper()
	target := -1
	if len(p.Targets[at]) > 0 {
		target = int(p.Targets[at][0])
	}
	z, clean := p.Embedding.Row(at), a.z.Row(item)
	check := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%s of image %d, target %d: %s is %v, want %v", p.Attack, item, target, what, got, want)
		}
	}
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Errorf("%s of image %d: target %d is not %s", p.Attack, item, target, what)
		}
	}
	score := func(key string) float64 { return r.Scored[0].Adversarial[r.Scored[0].Column(key)][p.Kept[at]] }
	seen := a.seen(item)
	same := func(j int) bool { return a.labels[j] == a.labels[item] }
	recall := func() float64 {
		if same(a.order(z, seen)[0]) {
			return 1
		}
		return 0
	}
	rank := func(list []int) float64 { return float64(slices.Index(a.order(z, list), target)) }
	switch p.Attack {
	case "ES":
		check("ES:D", score("ES:D"), distance(z, clean, 0))
		check("ES:R", score("ES:R"), recall())
	case "LTM":
		near := a.order(clean, a.where(seen, same))[0]
		others := a.order(clean, a.where(seen, func(j int) bool { return !same(j) }))
		check("the objective", p.Objective[at], math.Max(0, a.far(clean, others[len(others)-1])-a.far(clean, near)))
		check("LTM", score("LTM"), recall())
	case "GTM":
		must("the nearest of another class", target == a.order(clean, a.where(seen, func(j int) bool { return !same(j) }))[0])
		check("GTM", score("GTM"), recall())
	case "FNA":
		want, label := 0.0, a.labels[target]
		for _, j := range seen {
			switch a.labels[j] {
			case label:
				want += a.far(clean, j) * a.far(clean, j)
			case a.labels[item]:
				want -= a.far(clean, j) * a.far(clean, j)
			}
		}
		check("the objective", p.Objective[at], want)
		check("FNA", score("FNA"), recall())
	case "GTT":
		must("retrieved first", target == a.order(clean, seen)[0])
		want := 0.0
		if rank(seen) < 4 {
			want = 1
		}
		check("GTT", score("GTT"), want)
	case "TMA":
		must("in its gallery", slices.Contains(seen, target))
		cos, _, _ := cosine(z, a.z.Row(target))
		check("TMA", score("TMA"), cos)
	case "QA+", "QA-":
		must("in its gallery", slices.Contains(seen, target))
		sign := 1.0
		if p.Attack == "QA-" {
			must("retrieved first", target == a.order(clean, seen)[0])
			sign = -1
		}
		check("the objective", p.Objective[at], a.hinges(clean, a.far(clean, target), sign))
		check(p.Attack, score(p.Attack), rank(seen)/float64(len(seen)))
	default: // CA
		must("a query that is compared with it", slices.Contains(a.sides.Query, target) && slices.Contains(a.seen(target), item))
		must("of an image of the gallery", slices.Contains(a.sides.Gallery, item))
		sign := 1.0
		if p.Attack == "CA-" {
			must("the nearest query", target == a.order(clean, a.where(a.sides.Query, func(q int) bool { return slices.Contains(a.seen(q), item) }))[0])
			sign = -1
		}
		q := a.z.Row(target)
		check("the objective", p.Objective[at], a.hinges(q, a.far(clean, target), sign))
		others := a.where(a.seen(target), func(j int) bool { return j != item })
		nearer := a.where(others, func(j int) bool { return a.far(q, j) < a.far(z, target) })
		check(p.Attack, score(p.Attack), float64(len(nearer))/float64(len(others)))
	}
}

// Where queries outnumber the gallery, its images are candidates again, with other targets.
func TestCandidatesBeginAgain(t *testing.T) {
	t.Parallel()
	a := newTwoSided(t)
	a.sides.Gallery = a.sides.Gallery[:6] // images 8 to 13
	var err error
	if a.g, err = retrieval.NewGalleryOf(a.z, a.labels, a.sides); err != nil {
		t.Fatal(err)
	}
	a.o.Attacks = []string{"CA+"}
	r, err := a.run(NewMethod)
	if err != nil {
		t.Fatal(err)
	}
	n := len(r.Queries)
	if n <= 6 || !slices.Equal(r.Candidates[:6], a.sides.Gallery) || !slices.Equal(r.Candidates[6:], a.sides.Gallery[:n-6]) {
		t.Fatalf("%d queries, candidates %v", n, r.Candidates)
	}
	targets, other := r.Pictures[0].Targets, false
	for k := 6; k < n; k++ {
		other = other || targets[k][0] != targets[k-6][0]
	}
	if !other {
		t.Errorf("targets %v: the second round has those of the first", targets)
	}
}

// What attacks on queries of a gallery refuse, by name.
func TestSidesThatDoNotFit(t *testing.T) {
	t.Parallel()
	a := newTwoSided(t)
	a.o.Attacks, a.o.Variants = []string{"ES"}, []Variant{Published, Fixed}
	if _, err := a.run(NewMethod); !errors.Is(err, retrieval.ErrUnfit) || !strings.Contains(err.Error(), "variant published") {
		t.Error(err)
	}
	if _, err := retrieval.NewGalleryOf(a.z, a.labels, retrieval.Sides{Query: []int{1}, Gallery: []int{2}, Sequence: a.sides.Sequence}); !errors.Is(err, retrieval.ErrUnfit) {
		t.Error(err)
	}
	// All of one sequence: no query is compared with anything.
	one := retrieval.Sides{Query: a.sides.Query, Gallery: a.sides.Gallery, Sequence: make([]int32, 30)}
	g, err := retrieval.NewGalleryOf(a.z, a.labels, one)
	if err != nil {
		t.Fatal(err)
	}
	a.g, a.o.Variants = g, nil
	if _, err := a.run(NewMethod); !errors.Is(err, retrieval.ErrUnfit) || !strings.Contains(err.Error(), "none of the 12 queries has both") {
		t.Error(err)
	}
}
