package bound

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/theory/stability"
)

type stabilityOptions struct {
	numbers   map[string]*int // by kind of statement
	in        stabilityInputs
	form      string
	constants string
	flags     *pflag.FlagSet
}

// BothForms is the form that stands for all.
const BothForms = "both"

func newStability(s *base.Streams) *cobra.Command {
	o := stabilityOptions{numbers: map[string]*int{}}
	return base.Command{
		Use:   "stability",
		Short: "Bound the generalization gap of a triplet learner",
		Long: `
Evaluates the bounds of Chen et al., On the Stability and Generalization of Triplet
Learning (2023): each as printed ("paper") and as its proof supports it ("corrected"),
term by term. Notes name the errors in the paper that explain differences (S1 to S16 in
docs/papers/stability.md). With --sup, a bound above the largest value of the loss is
called vacuous. Some corollaries state only an order of magnitude. It is printed next to
the bound from the proof, but is not itself a bound.

Flags that each bound needs:
` + stabilityNeeds() + `
--radius B sets L and alpha to those of the logistic triplet loss on points with
||x|| <= B: 8 B^2 and 64 B^4 as printed, 4 B^2 and 4 B^4 with --constants tight. The
tight constants also halve the corrected bound of Lemma 4 and reduce M of Lemma 5.`,
		Examples: []base.Example{
			{Why: "an algorithm with stability 1/n on 1,000 + 1,000 points", Line: "tercet bound stability --theorem 1 --gamma 0.001 --M 1 --delta 0.01 --n-pos 1000 --n-neg 1000 --sup 1"},
			{Why: "regularized risk minimization with few positives: min and max differ", Line: "tercet bound stability --lemma 4 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1"},
			{Why: "the same with the tightest proven constants", Line: "tercet bound stability --lemma 4 --n-pos 10 --n-neg 1000 --sigma 1 --radius 1 --constants tight --form corrected"},
			{Why: "expected gap from the training risk", Line: "tercet bound stability --theorem 4 --n-pos 1000 --n-neg 1000 --sigma 1 --smoothness 4 --risk 0.1"},
			{Why: "SGD on the unit ball, one step per sample", Line: "tercet bound stability --corollary 1 --n-pos 1000 --n-neg 1000 --radius 1 --c 0.03125 --steps 1000 --M 1 --delta 0.01 --json"},
		},
		AnyKernel: true,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			for _, k := range []struct{ kind, usage string }{
				{"theorem", "the bound of Theorem `N`, 1 to 4"},
				{"lemma", "the bound of Lemma `N`, 1 to 6 or 10"},
				{"corollary", "the bound of Corollary `N`, 1 to 3"},
			} {
				o.numbers[k.kind] = fs.Int(k.kind, 0, k.usage)
			}
			base.Group(fs, "Which bound")
			cmd.MarkFlagsMutuallyExclusive("theorem", "lemma", "corollary")
			o.in.register(fs)
			fs.StringVar(&o.form, "form", BothForms, "`FORM` of the bound: "+stability.Paper+", "+stability.Corrected+" or "+BothForms)
			fs.StringVar(&o.constants, "constants", stability.Paper, "`CONSTANTS`: "+stability.Paper+" or "+stability.Tight)
			base.Group(fs, "Form")
			o.flags = fs
		},
		Run: func(context.Context, []string) error { return runBoundStability(s, &o) },
	}.Build()
}

// stabilityNeeds is the help's list of what each bound needs.
func stabilityNeeds() string {
	var b strings.Builder
	for _, bound := range stabilityBounds {
		fmt.Fprintf(&b, "  %-12s %s\n", bound.name(), strings.NewReplacer("--", "", ",", "", " and", "").Replace(bound.wants()))
	}
	return b.String()
}

// choose finds the bound that is asked for.
func (o *stabilityOptions) choose() (stabilityBound, error) {
	for kind, number := range o.numbers {
		if !o.flags.Changed(kind) {
			continue
		}
		var have []string
		for _, b := range stabilityBounds {
			if b.kind != kind {
				continue
			}
			if b.number == *number {
				return b, nil
			}
			have = append(have, fmt.Sprint(b.number))
		}
		return stabilityBound{}, base.Usagef("unknown bound --%s %d; valid: %s", kind, *number, strings.Join(have, ", "))
	}
	return stabilityBound{}, base.Usagef("which bound? Give one of --theorem, --lemma, --corollary and its number")
}

// check refuses what the bound does not use, and names what it lacks.
func (o *stabilityOptions) check(b stabilityBound) error {
	changed := o.flags.Changed
	may := b.flags(changed)
	unused := lists.Filter(stabilityFlags(o.flags), func(name string) bool { return changed(name) && !slices.Contains(may, name) })
	switch {
	case changed("radius") && (changed("lipschitz") || changed("smoothness")):
		return base.Usagef("--radius is for the logistic loss, --lipschitz and --smoothness are for other losses; give one or the other")
	case slices.Equal(unused, []string{"constants"}) && b.loss != nil:
		return base.Usagef("--constants chooses L and alpha of --radius, which is not given")
	case len(unused) > 0:
		return base.Usagef("%s does not use %s; it needs %s", b.name(), dashed(unused), b.wants())
	}
	if missing := b.missing(changed); len(missing) > 0 {
		return base.Usagef("%s needs %s too; in all %s", b.name(), dashed(missing), b.wants())
	}
	for _, name := range []string{"sup", "radius"} {
		if v := map[string]float64{"sup": o.in.supremum, "radius": o.in.radius}[name]; changed(name) && !(v > 0) {
			return base.Usagef("--%s is %v, want a number above 0", name, v)
		}
	}
	return nil
}

// stabilityFlags are the flags of this command's own that may not fit a bound.
func stabilityFlags(fs *pflag.FlagSet) []string {
	var own pflag.FlagSet
	own.SortFlags = false
	new(stabilityInputs).register(&own)
	names := []string{}
	own.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return append(names, "constants")
}

func runBoundStability(s *base.Streams, o *stabilityOptions) error {
	b, err := o.choose()
	if err != nil {
		return err
	}
	if err := o.check(b); err != nil {
		return err
	}
	forms := []string{stability.Paper, stability.Corrected}
	if o.form != BothForms {
		if !slices.Contains(forms, o.form) {
			return base.Usagef("--form is %q; choose %s, %s or %s", o.form, stability.Paper, stability.Corrected, BothForms)
		}
		forms = []string{o.form}
	}
	doc := &printed.BoundStability{Schema: record.BoundSchema, Kind: "stability", Source: b.name(), Inputs: map[string]float64{}}
	inputs := o.describe(b, doc)
	var refused error
	for _, form := range forms {
		r, err := b.calc(&o.in, stability.Options{Form: form, Constants: o.constants, Sup: o.in.supremum})
		if err != nil {
			refused = err
			doc.Forms = append(doc.Forms, printed.BoundForm{Form: form, Refused: err.Error()})
			continue
		}
		doc.Forms = append(doc.Forms, printed.BoundForm{Form: form, BoundValue: &r})
	}
	if !slices.ContainsFunc(doc.Forms, func(f printed.BoundForm) bool { return f.BoundValue != nil }) {
		return boundError(refused)
	}
	return s.Text(doc, stabilityText(doc, inputs))
}

// describe writes the inputs into the document, and returns them as they are typed.
func (o *stabilityOptions) describe(b stabilityBound, doc *printed.BoundStability) string {
	var line []string
	for _, name := range stabilityFlags(o.flags) {
		if name == "constants" || !o.flags.Changed(name) {
			continue
		}
		key := strings.ReplaceAll(name, "-", "_")
		if v, err := o.flags.GetInt(name); err == nil {
			doc.Inputs[key] = float64(v)
		} else if v, err := o.flags.GetFloat64(name); err == nil {
			doc.Inputs[key] = v
		}
		line = append(line, fmt.Sprintf("%s %s", name, o.flags.Lookup(name).Value))
	}
	if slices.Contains(b.flags(o.flags.Changed), "constants") {
		doc.Constants = o.constants
		line = append(line, o.constants+" constants")
	}
	return strings.Join(line, ", ")
}
