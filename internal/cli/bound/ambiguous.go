package bound

import (
	"context"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/theory"
)

func newAmbiguous(s *base.Streams) *cobra.Command {
	var o theory.AmbiguousOptions
	return base.Command{
		Use:   "ambiguous",
		Short: "Measure the gradient of triplets with one wrong label",
		Long: `
Draws triplets of two normal classes in the plane, for the embedding f(x) = s x, and
prints the expected loss and its gradient in s for each kind of triplet. A gradient
above 0 shrinks the embedding. The appendix on the noise-robust triplet loss says that
triplets with exactly one wrong label have an expected gradient of zero, and leaves them
out of its loss.

In the table, "kept" is equations 3 and 4, and "left out" is the ambiguous part of
equation 2. That part is zero only if no triplet has |D| above the margin, where
D = |f(a) - f(p)|^2 - |f(a) - f(n)|^2.`,
		Examples: []base.Example{
			{Why: "what is left out is as large as what is kept", Line: "tercet bound ambiguous --beta 0.8 --gamma 0.9"},
			{Why: "an embedding so small that no |D| exceeds the margin", Line: "tercet bound ambiguous --beta 0.8 --gamma 0.9 --scale 0.01"},
		},
		AnyKernel: true,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.Float64Var(&o.Beta, "beta", 0.8, "`PROBABILITY` that the positive is labeled correctly")
			fs.Float64Var(&o.Gamma, "gamma", 0.9, "`PROBABILITY` that the negative is labeled correctly")
			fs.Float64Var(&o.Margin, "margin", 1, "margin `ALPHA` of the triplet loss on squared distances")
			fs.Float64Var(&o.Scale, "scale", 1, "scale `S` of the embedding f(x) = s x")
			fs.Float64Var(&o.Apart, "apart", 3, "`DISTANCE` of the class means, in standard deviations")
			fs.IntVar(&o.Draws, "draws", 200000, "`NUMBER` of triplets of each kind, at most 500,000")
			fs.Uint64Var(&o.Seed, "seed", 0, "`SEED` of the draws")
		},
		Run: func(context.Context, []string) error {
			a, err := theory.NewAmbiguous(o)
			if err != nil {
				return boundError(err)
			}
			return s.Text(printed.BoundAmbiguous{Schema: record.BoundSchema, Kind: "ambiguous", Ambiguous: a}, ambiguousText(a))
		},
	}.Build()
}

func ambiguousText(a *printed.Ambiguous) string {
	var b strings.Builder
	fmt.Fprintf(&b, "beta %v, gamma %v, margin %v, embedding f(x) = %v x, class means %v apart, %d draws\n\n", a.Beta, a.Gamma, a.Margin, a.Scale, a.Apart, a.Draws)
	t := base.PlainTable("triplets", "probability", "loss", "gradient in s", "95 % interval", "largest |D|")
	row := func(name, of string, p printed.AmbiguousPart, largest string) {
		t.AppendRow(table.Row{name, of, decimal(p.Loss.Value), decimal(p.Gradient.Value), fmt.Sprintf("[%s, %s]", decimal(p.Gradient.CI95[0]), decimal(p.Gradient.CI95[1])), largest})
	}
	for _, k := range a.Kinds {
		name := map[[2]bool]string{{true, true}: "right", {false, true}: "positive wrong", {true, false}: "negative wrong", {false, false}: "exchanged"}[[2]bool{k.Positive, k.Negative}]
		row(name, decimal(k.Probability), k.AmbiguousPart, decimal(k.Largest))
	}
	row("kept (eqs. 3, 4)", "", a.Kept, "")
	row("left out", "", a.Dropped, "")
	fmt.Fprintln(&b, t.Render())
	switch low, high := a.Dropped.Gradient.CI95[0], a.Dropped.Gradient.CI95[1]; {
	case low > 0 || high < 0:
		b.WriteString("\nThe gradient that is left out is not zero: its interval excludes 0.\n")
	default:
		b.WriteString("\nThe gradient that is left out is not distinguished from zero by these draws.\n")
	}
	return b.String()
}
