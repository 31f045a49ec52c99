package certify

import (
	"testing"

	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/nn"
)

// A row that counts as far is beaten by the mixture by the exact bound, too, and some rows
// are far while others are not.
func TestFarRowsAreBeaten(t *testing.T) {
	t.Parallel()
	p, labels := groups(40, 8, 4)
	m := model(t, nn.Spec{Name: "mlp", Units: 16, Embedding: 6, Normalize: true}, 8)
	net, err := bound.New(m)
	if err != nil {
		t.Fatal(err)
	}
	g := embedded(t, m, p, labels)
	search, err := worst.NewSearch(worst.Full, g)
	if err != nil {
		t.Fatal(err)
	}
	r := newRows(g, search, net)
	f := newFar(r)
	var far, near int
	for item := range labels {
		x := array.New(1, 1, 8, 1)
		copy(x.Data, p.x[item])
		z, distances := m.Embed(x, nn.Eval).Clone(), make([]float32, len(labels))
		r.g.Distances(z, distances)
		q := r.newQuery(item, search.Right(z, []int{item})[0], distances)
		if !q.right {
			continue
		}
		for _, eps := range []float64{0.001, 0.02, 0.05} {
			h := net.Features(x, []float64{eps})
			var at reach
			r.reached(h, net.Embeddings(h), 0, &at)
			q.first = len(q.mixed) - 1
			f.products([]*query{q}, []int{0}, h)
			v := f.of(q, 0, &at)
			mix := &q.mixed[q.first]
			for _, n := range q.wrong {
				exact := least(mix.seen, r.seen.Row(int(n)), &at)+(mix.offset-r.offset[n]) > r.needs(mix.half-r.half[n], &at)
				switch {
				case v.beats(int(n)) && !exact:
					t.Fatalf("query %d, eps %v: row %d is far and not beaten", item, eps, n)
				case v.beats(int(n)):
					far++
				case exact:
					near++
				}
			}
		}
	}
	if far == 0 || near == 0 {
		t.Errorf("%d rows are far, %d are beaten and not far", far, near)
	}
}
