package robustness

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tercet/internal/attack/worst"
	"tercet/internal/engine/adversary"
	"tercet/internal/record"
)

// Sandwich adds to c how many of its queries attacks broke: w holds the worst cases of
// the same weights, images and norm. It is an error if a query is certified at a budget
// and an image within the budget breaks it, since one of the two is then wrong. It sets
// nothing if the two differ in weights, images or norm, or if c is a vote, which
// certifies another system than the attacked network.
func Sandwich(c *record.Certify, w *record.Worst) error {
	at := slices.IndexFunc(w.Galleries, func(g record.WorstGallery) bool { return g.Gallery == cmp.Or(c.Options.Gallery, worst.Full) })
	if at < 0 || Smoothed(c.Options.Method) || !sameSystem(c, w) {
		return nil
	}
	g := w.Galleries[at]
	norms := g.Linf
	if w.Options.Norm == "l2" {
		norms = g.L2
	}
	found, err := brokenAt(w, g.Broken, norms)
	if err != nil {
		return fmt.Errorf("worst.json: %w", err)
	}
	items, err := c.Items.Values(c.Queries)
	if err != nil {
		return err
	}
	both := &record.CertifyAttacked{Eps: w.Options.Eps}
	for _, p := range c.Points {
		proven, err := p.Proven.Values(c.Queries)
		if err != nil {
			return err
		}
		if err := movedSandwich(c, p, w); err != nil {
			return err
		}
		same := math.Abs(p.Eps-w.Options.Eps) < 1e-9
		for i, item := range items {
			norm, attacked := found[item]
			if !attacked {
				continue
			}
			broken := !math.IsInf(norm, 1)
			// What is proven holds as far as verified images may be.
			if proven[i] == 1 && norm <= float64(float32(worst.Allowed(adversary.Norm(c.Options.Norm), p.Eps, 1))) {
				return fmt.Errorf("query %.0f is certified at %s eps %v, and an attack found an image at distance %.9g that breaks it: one of the two is wrong; please report it", item, c.Options.Norm, p.Eps, norm)
			}
			if !same {
				continue
			}
			both.Queries++
			switch {
			case proven[i] == 1:
				both.Certified++
			case broken:
				both.Broken++
			default:
				both.Unknown++
			}
		}
	}
	if both.Queries > 0 {
		c.Attacked = both
	}
	return nil
}

// movedSandwich is Sandwich for galleries that move: a query that images within the budget of
// the attack break cannot be proven at this budget or a larger one.
func movedSandwich(c *record.Certify, p record.CertifyPoint, w *record.Worst) error {
	if p.Moved == nil || w.Moved == nil || p.Eps < w.Options.Eps*(1-1e-9) {
		return nil
	}
	items, err := w.Items.Values(w.Queries)
	if err != nil {
		return fmt.Errorf("worst.json: %w", err)
	}
	own, err := c.Items.Values(c.Queries)
	if err != nil {
		return err
	}
	for _, of := range []struct {
		what           string
		proven, broken record.Packed
	}{{"one image", p.Moved.ProvenOne, w.Moved.One}, {"all images", p.Moved.ProvenAll, w.Moved.All}} {
		broken, err := of.broken.Values(w.Queries)
		if err != nil {
			return fmt.Errorf("worst.json: %w", err)
		}
		proven, err := of.proven.Values(c.Queries)
		if err != nil {
			return err
		}
		is := map[float32]bool{}
		for i, item := range items {
			is[item] = broken[i] == 1
		}
		for i, item := range own {
			if proven[i] == 1 && is[item] {
				return fmt.Errorf("query %.0f is certified where %s of the gallery may move by %s eps %v, and an attack found such images that break it at eps %v: one of the two is wrong; please report it", item, of.what, c.Options.Norm, p.Eps, w.Options.Eps)
			}
		}
	}
	return nil
}

// brokenAt returns, by the index of a query's image, how far the image is that broke it,
// infinity where none did.
func brokenAt(w *record.Worst, by, norms record.Packed) (map[float32]float64, error) {
	items, err := w.Items.Values(w.Queries)
	if err != nil {
		return nil, err
	}
	member, err := by.Values(w.Queries)
	if err != nil {
		return nil, err
	}
	norm, err := norms.Values(w.Queries)
	if err != nil {
		return nil, err
	}
	out := map[float32]float64{}
	for i, item := range items {
		out[item] = math.Inf(1)
		if member[i] != 0 {
			out[item] = float64(norm[i])
		}
	}
	return out, nil
}
