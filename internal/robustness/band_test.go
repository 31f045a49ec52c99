package robustness

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/attack/worst"
	"tercet/internal/record"
)

func bandDocs() (*record.Worst, *record.Certify) {
	src := record.Source{Step: 7, Set: "test", Checkpoint: "last", Config: "c", Fingerprint: "f"}
	inf := math.Inf(1)
	w := &record.Worst{
		Source: src, Queries: 5, Items: record.Pack([]float64{0, 1, 2, 3, 4}),
		Options: record.WorstOptions{Version: "standard", Norm: "linf", Eps: 0.2, Galleries: []string{"full", "prototype"}},
	}
	w.Galleries = []record.WorstGallery{
		{Gallery: "full", Radius: record.Pack([]float64{0, 0.05, 0.11, inf, inf})},
		{Gallery: "prototype", Radius: record.Pack([]float64{0, 0.1, inf, inf, inf})},
	}
	// Query 1 is not certified at all; 5 is not attacked.
	c := &record.Certify{
		Source: src, Queries: 5, Items: record.Pack([]float64{0, 2, 3, 4, 5}), Right: record.Pack([]float64{0, 1, 1, 1, 1}),
		Options: record.CertifyOptions{Method: "ibp", Norm: "linf", Eps: []float64{0.05, 0.1}},
		Points: []record.CertifyPoint{
			{Eps: 0.05, Proven: record.Pack([]float64{0, 1, 1, 0, 1})}, {Eps: 0.1, Proven: record.Pack([]float64{0, 0, 1, 0, 1})},
		},
	}
	return w, c
}

// The shares of a band, counted by hand over the queries that both documents have.
func TestBandByHand(t *testing.T) {
	t.Parallel()
	w, c := bandDocs()
	list, err := BandsOf("runs/a", w, c)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	b := list[0]
	if b.Queries != 4 || b.Method != "ibp" || len(b.Points) != 21 {
		t.Fatalf("%+v", b)
	}
	for _, p := range []struct{ at, certified, unbroken float64 }{
		{0, 0.75, 0.75}, {0.04, 0.5, 0.75}, {0.05, 0.5, 0.75}, {0.06, 0.25, 0.75}, {0.1, 0.25, 0.75}, {0.11, 0, 0.5}, {0.2, 0, 0.5},
	} {
		got := b.Points[int(math.Round(p.at*100))]
		if math.Abs(got.Eps-p.at) > 1e-9 || got.Certified.Value != p.certified || got.Unbroken.Value != p.unbroken || *got.Unknown != p.unbroken-p.certified {
			t.Errorf("at %v: %+v, certified %v, unknown %v", p.at, got, got.Certified.Value, *got.Unknown)
		}
	}
	if p := list[1]; p.Queries != 5 || p.Method != "" || p.Points[20].Unbroken.Value != 0.6 || p.Points[20].Certified != nil {
		t.Errorf("the certificate is of the other gallery: %+v", p)
	}
	if files, err := DrawBands(list, filepath.Join(t.TempDir(), "b")); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
}

// A band says where its attacks are not those that its suite has today.
func TestBandOfOlderAttacks(t *testing.T) {
	t.Parallel()
	w, _ := bandDocs()
	for at := range w.Galleries {
		names, err := worst.Planned(worst.Options{Version: "standard", Norm: "linf", Eps: 0.2}, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			w.Galleries[at].Members = append(w.Galleries[at].Members, record.WorstMember{Member: name})
		}
	}
	says := func(want string) {
		list, err := BandsOf("runs/a", w, nil)
		if err != nil || list[0].Attack != want {
			t.Errorf("%q, %v; want %q", list[0].Attack, err, want)
		}
	}
	says("standard, eps 51/255")
	w.Galleries[1].Members = w.Galleries[1].Members[1:]
	says("standard, eps 51/255, by an older list of attacks")
}

// Radii count as they are; a vote is another system; what is proven and broken at once ends.
func TestBandsOfRadii(t *testing.T) {
	t.Parallel()
	w, c := bandDocs()
	c.Radii = record.Pack([]float64{0.3, 0.12, 0.12, 0, 0})
	if _, err := BandsOf("a", w, c); err == nil || !strings.Contains(err.Error(), "query 2 is certified at linf eps 0.12") {
		t.Error(err)
	}
	c.Options.Method, c.Radii = Vote, record.Pack([]float64{0.3, 0.12, 0.12, 0, 0})
	list, err := BandsOf("a", w, c)
	if err != nil {
		t.Fatal(err)
	}
	if p := list[0].Points[12]; !list[0].Other || p.Unknown != nil || p.Certified.Value != 0.5 || list[0].Points[13].Certified.Value != 0 {
		t.Errorf("%+v", p)
	}
	other := *c
	other.Source.Step++
	if list, err := BandsOf("a", w, &other); err != nil || list[0].Method != "" {
		t.Error("a certificate of other weights", err)
	}
}
