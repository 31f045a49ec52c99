package attack

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

// plainPGD is section 1.1 of the specification in float64: sign steps from the
// clean image x0 down the gradient dz(t, z) of an objective. It returns the
// embeddings of the last two iterates.
func (m *model) plainPGD(x0 []float64, p Profile, dz func(t int, z []float64) []float64) (previous, last []float64) {
	x := append([]float64(nil), x0...)
	for t := range p.Iterations {
		_, _, previous = m.plain(x)
		for k, g := range m.slope(x, dz(t, previous)) {
			if g > 0 {
				x[k] -= p.Step
			} else if g < 0 {
				x[k] += p.Step
			}
			x[k] = math.Max(math.Min(x[k], x0[k]+p.Eps), x0[k]-p.Eps)
			x[k] = math.Max(0, math.Min(1, x[k]))
		}
	}
	_, _, last = m.plain(x)
	return previous, last
}

// towards adds weight times the gradient of |z - x + eps| to g.
func towards(g, z []float64, x []float32, eps, weight float64) {
	d := 0.0
	for k := range z {
		d += math.Pow(z[k]-float64(x[k])+eps, 2)
	}
	for k := range z {
		if d > 1e-12 {
			g[k] += weight * (z[k] - float64(x[k]) + eps) / math.Sqrt(d)
		}
	}
}

// Images crafted through the method and PGD are those of plain loops.
func TestCraftingAgainstPlainLoops(t *testing.T) {
	const n = 40
	net := newModel(11, 6, 12, 5)
	s, labels := newSet(12, n, 4)
	gallery := net.Embed(s.x, nn.Eval).Clone()
	g, p := mustGallery(t, gallery, labels), Profile{Name: "tiny", Eps: 0.1, Step: 0.02, Iterations: 8}
	items, ids := []int{}, []uint64{}
	for i := range n {
		items, ids = append(items, i), append(ids, uint64(i))
	}
	for _, name := range ours() {
		for _, v := range variants() {
			m := mustMethod(t, name, g, v, MethodOptions{Seed: 5})
			mustAim(t, m, &Batch{Items: items, Clean: gallery}, 0)
			pgd, adv := p.PGD(), array.New(s.x.Shape...)
			pgd.KeepPrevious = true
			report, err := pgd.Run(net, s.x, ids, m, 0, adv)
			if err != nil {
				t.Fatal(err)
			}
			hits := 0.0
			out := scoresOf(m, report.Embedding, report.Previous)
			for i := range n {
				previous, last := net.plainPGD(wide(s.x.Row(i)), p, func(step int, z []float64) []float64 {
					dz := make([]float64, len(z))
					switch name {
					case "TMA":
						target, zz, tt, zt := g.X.Row(int(m.Targets(i)[0])), 0.0, 0.0, 0.0
						for k := range z {
							zz += z[k] * z[k]
							tt += float64(target[k]) * float64(target[k])
							zt += z[k] * float64(target[k])
						}
						for k := range z {
							dz[k] = zt/math.Sqrt(zz*tt)*z[k]/zz - float64(target[k])/math.Sqrt(zz*tt)
						}
					case "ES":
						switch from := gallery.Row(i); {
						case v == Published && step == 0:
							towards(dz, z, from, 1e-6-1e-7, -1)
						case v == Published:
							towards(dz, z, from, 1e-6, -1)
						case step == 0:
							for k, u := range plainNudges(5, i, len(z)) {
								dz[k] = u * 1e7 / math.Sqrt(float64(len(z)))
							}
						default:
							towards(dz, z, from, 0, -1)
						}
					case "GTM":
						towards(dz, z, g.X.Row(int(m.Targets(i)[0])), 1e-6, 1)
					case "LTM":
						near, far, nearest, farthest := -1, -1, math.Inf(1), -1.0
						for j := range n {
							d := 0.0
							for k := range z {
								d += math.Pow(z[k]-float64(gallery.Row(j)[k]), 2)
							}
							if labels[j] != labels[i] && d > farthest {
								far, farthest = j, d
							}
							if labels[j] == labels[i] && (j != i || v == Published) && d < nearest {
								near, nearest = j, d
							}
						}
						if farthest > nearest {
							towards(dz, z, gallery.Row(far), 0, 1)
							towards(dz, z, gallery.Row(near), 0, -1)
						}
					}
					return dz
				})
				for k := range last {
					if math.Abs(last[k]-float64(report.Embedding.Row(i)[k])) > 1e-5 || math.Abs(previous[k]-float64(report.Previous.Row(i)[k])) > 1e-5 {
						t.Errorf("%s %s, query %d: embedding %v, want %v", name, v, i, report.Embedding.Row(i), last)
						break
					}
				}
				hits += out[len(out)-1][i]
			}
			if clean := scoresOf(m, gallery, gallery); name != "TMA" {
				before := 0.0
				for _, c := range clean[len(clean)-1] {
					before += c
				}
				if hits >= before {
					t.Errorf("%s %s: %v hits, %v when clean: the attack shows nothing", name, v, hits, before)
				}
			}
		}
	}
}
