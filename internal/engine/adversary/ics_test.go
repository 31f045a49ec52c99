package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

func TestICS(t *testing.T) {
	for _, v := range []Implementation{Paper, Robrank} {
		for _, margin := range []float64{0, 0.2} {
			m, in := scene(26, 8)
			o := hmOptions(t, v)
			o.ICS = ICSOptions{Lambda: 0.5, Margin: margin}
			h := newHM(t, o)
			out, _, err := h.Craft(m, in, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			const n = 8
			if out.Images.Rows() != 5*n || len(out.Labels) != 5*n {
				t.Fatalf("%d rows", out.Images.Rows())
			}
			for i := range n { // benign anchors and positives follow
				if fmt.Sprint(out.Images.Row(3*n+i)) != fmt.Sprint(h.clean.Row(i)) || fmt.Sprint(out.Images.Row(4*n+i)) != fmt.Sprint(h.clean.Row(n+i)) {
					t.Fatalf("triplet %d: benign rows differ", i)
				}
			}
			z := embeddings(9, 5*n, 4)
			if margin == 0 {
				z = m.Embed(out.Images, nn.Eval).Clone()
			}
			at := func(dz *array.Array) float64 {
				got, err := h.Penalty(out, z, dz)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			want := 0.0
			for i := range n {
				a, tilde, p := wide(z.Row(3*n+i)), wide(z.Row(i)), wide(z.Row(4*n+i))
				moved, _ := plainDistance(a, tilde, o.Eps)
				within, _ := plainDistance(a, p, o.Eps)
				want += 0.5 / n * math.Max(0, moved-within+margin)
			}
			dz := array.New(5*n, 4)
			for i := range dz.Data {
				dz.Data[i] = 1
			}
			if got := at(dz); math.Abs(got-want) > 1e-12 || want == 0 {
				t.Fatalf("%s margin %v: %v, want %v", v, margin, got, want)
			}
			if margin == 0 {
				continue // distances near 0 have kinks
			}
			scratch := array.New(5*n, 4)
			for i, old := range z.Data {
				const step = 1.0 / 4096
				up, down := old+step, old-step
				z.Data[i] = up
				high := at(scratch)
				z.Data[i] = down
				want := (high - at(scratch)) / (float64(up) - float64(down))
				z.Data[i] = old
				if got := float64(dz.Data[i]) - 1; math.Abs(got-want) > 1e-4 {
					t.Fatalf("%s: gradient %d added is %v, differences give %v", v, i, got, want)
				}
			}
		}
	}
	m, in := scene(26, 8)
	h := newHM(t, hmOptions(t, Paper))
	out, _, err := h.Craft(m, in, 1, 1)
	if err != nil || out.Images.Rows() != 24 {
		t.Fatal(err)
	}
	if l, err := h.Penalty(out, embeddings(1, 24, 4), nil); l != 0 || err != nil {
		t.Errorf("penalty without ICS: %v, %v", l, err)
	}
}
