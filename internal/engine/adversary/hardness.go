package adversary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/rng"
)

// Hardness of a triplet is H = d(a,p) - d(a,n), from -2 to 2 on the unit sphere.

// Destination says what hardness triplets are driven to. Name is one of
//
//   - a sampler (random, semihard, softhard, softhard-strict, distance-weighted,
//     hardest): the hardness of triplets that it draws from the same clean
//     embeddings, anchor by anchor;
//   - constant: Value. The paper tries 0, -gamma/2 and -gamma; 2 is plain min-max
//     training;
//   - boost: g_B, a sampler's hardness plus Xi (1 - l), l the normalised loss;
//   - lga, lga-squared, lga-root: the pseudo-hardnesses g_LGA = -gamma l, g_2 =
//     -gamma l^2 and g_1/2 = -gamma sqrt(l).
//
// The normalised loss is l = min(u, loss)/u of the step before, in [0, 1]: the
// better the model does, the harder its adversaries (Zhou & Patel, CVPR 2022,
// section 3.2; supplement, eqs. 15 and 16).
type Destination struct {
	Name    string
	Value   float64 // constant
	Sampler string  // boost: whose hardness
	Xi      float64 // boost; 0.1 in the paper
	Gamma   float64 // lga, lga-squared, lga-root
	U       float64 // boost, lga, lga-squared, lga-root: the loss that counts as 1
}

// Destinations lists the valid names.
func Destinations() []string {
	return append(mine.Samplers(), "constant", "boost", "lga", "lga-squared", "lga-root")
}

// gradual reports whether d depends on the loss of the step before.
func (d Destination) gradual() bool {
	switch d.Name {
	case "boost", "lga", "lga-squared", "lga-root":
		return true
	}
	return false
}

// sampler returns the sampler that d draws from, or "".
func (d Destination) sampler() string {
	switch {
	case d.Name == "boost":
		return d.Sampler
	case slices.Contains(mine.Samplers(), d.Name):
		return d.Name
	}
	return ""
}

func (d Destination) validate() error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case !slices.Contains(Destinations(), d.Name):
		return fmt.Errorf("hm: unknown destination %q (valid: %s)", d.Name, strings.Join(Destinations(), ", "))
	case d.Name == "constant" && !(d.Value >= -2 && d.Value <= 2):
		return fmt.Errorf("hm: destination: value is %v, want a hardness from -2 to 2", d.Value)
	case d.Name == "boost" && !slices.Contains(mine.Samplers(), d.Sampler):
		return fmt.Errorf("hm: destination boost: unknown sampler %q (valid: %s)", d.Sampler, strings.Join(mine.Samplers(), ", "))
	case d.Name == "boost" && !(d.Xi >= 0 && finite(d.Xi)):
		return fmt.Errorf("hm: destination boost: xi is %v, want a finite number >= 0", d.Xi)
	case d.gradual() && !(d.U > 0 && finite(d.U)):
		return fmt.Errorf("hm: destination %s: u is %v, want a finite loss > 0", d.Name, d.U)
	case strings.HasPrefix(d.Name, "lga") && !(d.Gamma >= 0 && d.Gamma <= 2):
		return fmt.Errorf("hm: destination %s: gamma is %v, want a margin from 0 to 2", d.Name, d.Gamma)
	}
	return nil
}

// pseudo returns the part of d that is one number for the whole batch, given the
// loss of the step before: the hardness itself, or what boost adds to it.
func (d Destination) pseudo(previous float64) float64 {
	l := min(max(previous, 0), d.U) / d.U
	switch d.Name {
	case "constant":
		return d.Value
	case "boost":
		return d.Xi * (1 - l)
	case "lga":
		return -d.Gamma * l
	case "lga-squared":
		return -d.Gamma * l * l
	case "lga-root":
		return -d.Gamma * math.Sqrt(l)
	}
	return 0
}

// destinations fills dst with the destination hardness of each triplet in source:
// z (B, D) and labels (B) are of the clean batch and used only where d draws.
type destinations struct {
	d      Destination
	miner  mine.Miner // nil where d draws nothing
	eps    float64    // of the distance
	stream rng.Stream
	drawn  loss.Tuples
}

func (t *destinations) fill(dst []float64, source []loss.Triplet, z *array.Array, labels []int32, previous float64, seed, step uint64) error {
	base := t.d.pseudo(previous)
	for i := range dst {
		dst[i] = base
	}
	if t.miner == nil {
		return nil
	}
	t.stream.Reset(seed, "hm-destination", step)
	if _, err := t.miner.Mine(z, labels, &t.stream, &t.drawn); err != nil {
		return fmt.Errorf("hm: destination %s: %w", t.d.sampler(), err)
	}
	if len(t.drawn.Triplets) != len(source) {
		return fmt.Errorf("hm: destination %s: %d triplets for %d of the source; both need one triplet for each anchor", t.d.sampler(), len(t.drawn.Triplets), len(source))
	}
	for i, x := range t.drawn.Triplets {
		if x.A != source[i].A {
			return fmt.Errorf("hm: destination %s: triplet %d has anchor %d, the source's has %d; both need the anchors in ascending order", t.d.sampler(), i, x.A, source[i].A)
		}
		a, p, n := z.Row(int(x.A)), z.Row(int(x.P)), z.Row(int(x.N))
		dst[i] += distance(a, p, t.eps) - distance(a, n, t.eps)
	}
	return nil
}

// distance returns |x - y + eps| in float64.
func distance(x, y []float32, eps float64) float64 {
	y = y[:len(x)]
	var s0, s1 float64
	k := 0
	for ; k+1 < len(x); k += 2 {
		d0 := float64(x[k]) - float64(y[k]) + eps
		d1 := float64(x[k+1]) - float64(y[k+1]) + eps
		s0 += d0 * d0
		s1 += d1 * d1
	}
	if k < len(x) {
		d := float64(x[k]) - float64(y[k]) + eps
		s0 += d * d
	}
	return math.Sqrt(s0 + s1)
}
