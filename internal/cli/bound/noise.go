package bound

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/theory"
)

type noiseOptions struct {
	classes int
	values  map[string]*float64 // by flag
	similar float64
	changed func(flag string) bool
}

// noiseInputs are the flags that say how much noise there is: exactly one is given.
var noiseInputs = []struct{ flag, usage string }{
	{theory.GivenSLN, "`Q`, the probability that a label is redrawn from all classes"},
	{theory.GivenRate, "`RATE` of labels that are replaced by another class, q (K-1)/K"},
	{theory.GivenPLN, "`Q`~, the probability that a pair's label is replaced by a fair coin"},
	{theory.GivenEffective, "`P`, the probability that a balanced pair is labeled wrongly, 0 to 0.5"},
	{theory.GivenFlips, "`RHO`, the probability that a triplet's positive and negative are swapped, 0 to 0.5"},
}

func newNoise(s *base.Streams) *cobra.Command {
	o := noiseOptions{values: map[string]*float64{}}
	return base.Command{
		Use:   "noise",
		Short: "Convert noise on labels, pairs and triplets into each other",
		Long: `
Converts any one of q, rate, q~, P and rho into all others, and prints the probabilities
of wrong triplets. Noise on labels (sln) and on pair labels (pln) are compared at equal
effective noise P, the share of balanced pairs with a wrong label. Swapping the positive
and negative of clean triplets with rho = P leaves the same contrast.

beta and gamma are the probabilities that a triplet's positive and its negative are
correct. w11 is the probability that both are correct, w00 that both are wrong, and so
on. With noise on labels both errors depend on the anchor's label, so the products, beta
gamma and (1-beta)(1-gamma), differ from the joint probabilities. The contrast w11 - w00
is the share of the clean signal that remains.`,
		Examples: []base.Example{
			{Why: "pair noise q~ = 0.2 with 10 classes, as in the DIBS paper", Line: "tercet bound noise --classes 10 --pln 0.2"},
			{Why: "20 % of the labels are replaced by another class", Line: "tercet bound noise --classes 10 --rate 0.2 --json"},
			{Why: "pairs drawn at random: one in ten is similar", Line: "tercet bound noise --classes 10 --effective 0.1 --similar 0.1"},
		},
		AnyKernel: true,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.IntVar(&o.classes, "classes", 10, "number `K` of classes, of equal size")
			var names []string
			for _, in := range noiseInputs {
				o.values[in.flag] = fs.Float64(in.flag, 0, in.usage)
				names = append(names, in.flag)
			}
			fs.Float64Var(&o.similar, "similar", 0.5, "`SHARE` of similar pairs among the clean pairs, for pln")
			cmd.MarkFlagsMutuallyExclusive(names...)
			o.changed = fs.Changed
		},
		Run: func(context.Context, []string) error { return runBoundNoise(s, o) },
	}.Build()
}

func runBoundNoise(s *base.Streams, o noiseOptions) error {
	given := ""
	var flags []string
	for _, in := range noiseInputs {
		flags = append(flags, "--"+in.flag)
		if o.changed(in.flag) {
			given = in.flag
		}
	}
	if given == "" {
		return base.Usagef("how much noise? Give one of %s", strings.Join(flags, ", "))
	}
	m, err := theory.Match(given, *o.values[given], o.classes, o.similar)
	if err != nil {
		return boundError(err)
	}
	doc := printed.BoundNoise{Schema: record.BoundSchema, Kind: "noise", MatchedNoise: m}
	return s.Text(doc, noiseText(m))
}

func noiseText(m *printed.MatchedNoise) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %v with %d classes: effective noise P = %s\n\n", m.Given, m.Value, m.Classes, decimal(m.Effective))
	t := base.PlainTable("", "labels (sln)", "pairs (pln)", "order (flips)")
	row := func(name string, values ...float64) {
		cells := table.Row{name}
		for _, v := range values {
			cells = append(cells, decimal(v))
		}
		t.AppendRow(cells)
	}
	row("drawn again: q, q~", m.SLN.Q, m.PLN.Q)
	row("changed: rate, P, rho", m.SLN.Rate, m.PLN.Rate, m.Flips.Rho)
	all := []printed.NoiseWeights{m.SLN.NoiseWeights, m.PLN.NoiseWeights, m.Flips.NoiseWeights}
	for _, r := range []struct {
		name string
		of   func(w printed.NoiseWeights) float64
	}{
		{"beta", func(w printed.NoiseWeights) float64 { return w.Beta }},
		{"gamma", func(w printed.NoiseWeights) float64 { return w.Gamma }},
		{"w11: both right", func(w printed.NoiseWeights) float64 { return w.W11 }},
		{"w10: n wrong", func(w printed.NoiseWeights) float64 { return w.W10 }},
		{"w01: p wrong", func(w printed.NoiseWeights) float64 { return w.W01 }},
		{"w00: both wrong", func(w printed.NoiseWeights) float64 { return w.W00 }},
		{"product w11", func(w printed.NoiseWeights) float64 { return w.Product.W11 }},
		{"product w10", func(w printed.NoiseWeights) float64 { return w.Product.W10 }},
		{"product w01", func(w printed.NoiseWeights) float64 { return w.Product.W01 }},
		{"product w00", func(w printed.NoiseWeights) float64 { return w.Product.W00 }},
		{"contrast", func(w printed.NoiseWeights) float64 { return w.Contrast }},
	} {
		row(r.name, r.of(all[0]), r.of(all[1]), r.of(all[2]))
	}
	fmt.Fprintln(&b, t.Render())
	if m.Similar != 0.5 {
		fmt.Fprintf(&b, "\nPairs: a share of %v of the clean ones is similar.\n", m.Similar)
	}
	if m.Effective == 0.5 {
		b.WriteString("\nNo signal is left: at P = 0.5 labels and triplets carry no information.\n")
	}
	return b.String()
}

// decimal shows a share with six digits, smaller ones by their exponent.
func decimal(v float64) string {
	if v != 0 && v < 5e-7 && v > -5e-7 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}
