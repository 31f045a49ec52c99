// Package certify is the command that proves which queries no attack can break.
package certify

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/attack/worst"
	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/text"
)

type options struct {
	base.Subject
	base.Outcome
	ask      record.CertifyOptions
	eps      []string
	out      string
	force    bool
	ifNeeded bool
	changed  func(flag string) bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "certify [RUN]",
		Short: "Certify the share of queries that no attack within a budget can break",
		Long: `
Proves for each query that its nearest image keeps the right class under any
perturbation within the budget. The share of such queries is certified R@1, a lower
bound on recall@1 under any attack on the queries. The gallery is not perturbed. A query
without a proof counts as not certified, even if no attack on it exists.

  vote  randomized smoothing, budgets in l2: the certified system predicts the most
        frequent class of the nearest image under Gaussian noise. Each certificate holds
        with probability 1 - alpha. Networks that were not trained with noise lose recall.
        Each query costs --samples forward passes.
  mean  randomized smoothing, budgets in l2: the certified system retrieves the row
        nearest to the mean embedding under noise. Needs embeddings of length 1. Weaker
        than vote, and best with --gallery prototype. Each of three theorems has a column.
  ibp   interval bounds, budgets in linf: certifies the network itself, rounding
        included. Networks that were not trained for it have wide intervals: expect
        budgets far below one pixel level. --radii searches each query's largest budget.
  crown-ibp  interval bounds, then backward linear bounds for the queries that intervals
        cannot certify: proves at least as much as ibp, and takes longer.
  lipschitz  spectral norms of the layers, budgets in l2: certifies the network itself.
        Fast, but budgets are small.

ibp, crown-ibp and lipschitz are compared, query by query, with the worst.json of the run,
if it has the same norm and weights (tercet attack --suite worst). A query that is both
certified and broken is a bug: exit code 1 with its index, and nothing is written.

Writes certify.json into the run's directory, or into --out-dir. For another split or
checkpoint the file is certify-validation.json, certify-best.json and so on. An existing
result is replaced only with --force, or if the new one covers it.`,
		Examples: []base.Example{
			{Why: "certified R@1 under noise of standard deviation 0.25, of 500 queries", Line: "tercet certify --run runs/first --sigma 0.25 --samples 1000 --queries 500 --sample"},
			{Why: "certified R@1 of 100 queries at three budgets", Line: "tercet certify --run runs/first --method ibp --out-dir runs/first/ibp --eps 0.0001,0.001,1/255 --queries 100"},
			{Why: "the largest budget of each query, up to 8/255", Line: "tercet certify --run runs/first --method ibp --eps 8/255 --queries 20 --radii --out-dir runs/first/radii"},
			{Why: "in a script: compute once, and exit code 4 if less than half are certified", Line: "tercet certify --run runs/first --method ibp --out-dir runs/first/script --eps 1/255 --if-needed --fail-under certR@1=0.5"},
		},
		Exits: []int{base.ExitData, base.ExitGate, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddRun(cmd)
			fs.IntVar(&o.ask.Queries, "queries", 0, "number of query images to certify, 0 for all; the gallery is always complete")
			fs.BoolVar(&o.ask.Sample, "sample", false, "draw the queries at random instead of taking the first")
			fs.Uint64Var(&o.ask.Seed, "seed", 0, "seed of the noise and of the drawn queries (the same queries as attack)")
			base.Words(fs, &o.ask.Gallery, "gallery", worst.Full, worst.Galleries(), "gallery to search: "+text.List(worst.Galleries(), "or")+", as in attack --suite worst")
			fs.BoolVar(&o.ask.Moves, "move-gallery", false, "ibp, crown-ibp: also certify unperturbed queries against perturbed gallery images, one (G1) or all (GA), by interval bounds")
			base.Group(fs, "What to certify")
			base.Words(fs, &o.ask.Method, "method", robustness.Vote, robustness.CertifyMethods(), "method of proof: "+text.List(robustness.CertifyMethods(), "or"))
			fs.StringSliceVar(&o.eps, "eps", nil, "budgets for pixels in [0, 1]: `LIST` such as 0.1,77/255; default: 0,0.25,0.5,0.75,1 (vote, mean), 77/255 (ibp, crown-ibp) or 0.001,0.01,0.1 (lipschitz)")
			fs.Float64Var(&o.ask.Sigma, "sigma", 0.25, "vote, mean: standard deviation of the noise, for pixels in [0, 1]")
			fs.IntVar(&o.ask.Samples, "samples", 10_000, "vote, mean: noise samples per query")
			fs.Float64Var(&o.ask.Alpha, "alpha", 0.001, "vote, mean: probability that the certificate of a query is wrong")
			fs.BoolVar(&o.ask.Radii, "radii", false, "search the largest budget of each query, in steps of 2 %; vote and mean always report it")
			base.Group(fs, "Proof")
			fs.StringArrayVar(&o.FailUnder, "fail-under", nil, "exit with code 4 if a score is lower: `SCORE=LIMIT`, recall@1 or certR@1 (at the largest budget; repeatable)")
			o.AddFormat(cmd)
			fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; default: the run's directory")
			fs.BoolVar(&o.force, "force", false, "replace an existing certify.json even if it has more scores or other settings")
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "show the existing certify.json if it covers the request and is of these weights and images")
			base.Group(fs, "Output")
			cmd.MarkFlagsMutuallyExclusive("force", "if-needed")
			base.Least(fs, 0, "queries", "samples")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, _ []string) error { return runCertify(ctx, s, o) },
	}.Build()
}

func runCertify(ctx context.Context, s *base.Streams, o options) error {
	gates, err := o.check()
	if err != nil {
		return err
	}
	r, err := o.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	if o.out == "" {
		o.out = r.Dir
	}
	broken, err := o.attacked(r)
	if err != nil {
		return err
	}
	if d, err := o.stored(r); err != nil {
		return err
	} else if d != nil {
		s.Note("%s is up to date", o.path())
		if err := sandwich(d, broken); err != nil {
			return err
		}
		return o.show(s, d, gates)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	d, err := robustness.Certify(ctx, r, o.Checkpoint, o.Set, o.ask, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	if err := sandwich(d, broken); err != nil {
		return err
	}
	if err := record.Write(o.path(), d); err != nil {
		return err
	}
	return o.show(s, d, gates)
}

// check refuses what is wrong whatever the run, and reads the budgets.
func (o *options) check() ([]base.Gate, error) {
	if err := o.CheckRun(); err != nil {
		return nil, err
	}
	if err := o.method(); err != nil {
		return nil, err
	}
	for _, word := range o.eps {
		v, err := base.Fraction("--eps", word)
		switch {
		case err != nil:
			return nil, err
		case v > 1 && o.ask.Norm == "linf":
			return nil, base.Usagef("--eps %s is more than 1, the range of pixels", word)
		case slices.Contains(o.ask.Eps, v):
			return nil, base.Usagef("--eps names %s twice", word)
		}
		o.ask.Eps = append(o.ask.Eps, v)
	}
	if o.ask.Eps == nil {
		return nil, base.Usagef("--eps names no budget; give one such as 8/255")
	}
	slices.Sort(o.ask.Eps)
	gates, err := o.Gates()
	if err != nil {
		return nil, err
	}
	return gates, base.KnownGates(gates, robustness.CertifyKeys())
}

// method refuses flags of the other method, and sets what belongs to this one.
func (o *options) method() error {
	a := &o.ask
	switch {
	case a.Gallery == worst.Full:
		a.Gallery = ""
	case a.Method == robustness.Vote:
		return base.Usagef("--gallery %s is for --method %s: a vote searches all rows", a.Gallery, text.List(robustness.CertifyMethods()[1:], "or"))
	}
	if a.Moves && (a.Gallery != "" || a.Method != robustness.IBP && a.Method != robustness.Crown) {
		return base.Usagef("--move-gallery needs --method ibp or crown-ibp, and the gallery of all rows")
	}
	switch a.Method {
	case robustness.Vote, robustness.Mean:
		if o.changed("radii") {
			return base.Usagef("--radii is for --method ibp, crown-ibp and lipschitz: %s always finds the largest budget of each query", a.Method)
		}
		if !(a.Sigma > 0 && a.Sigma <= 100) {
			return base.Usagef("--sigma is %v; give a standard deviation above 0, at most 100", a.Sigma)
		}
		if !(a.Alpha > 0 && a.Alpha < 0.5) {
			return base.Usagef("--alpha is %v; give a probability above 0 and below 0.5", a.Alpha)
		}
		if a.Samples < 1 {
			return base.Usagef("--samples is %d; give at least 1", a.Samples)
		}
		a.Norm, a.Radii = "l2", true
		if o.eps == nil {
			o.eps = []string{"0", "0.25", "0.5", "0.75", "1"}
		}
	default:
		if given := base.Given(o.changed, "sigma", "samples", "alpha"); given != "" {
			return base.Usagef("%s: only for --method vote and mean; %s draws no noise", given, a.Method)
		}
		a.Norm, a.Sigma, a.Samples, a.Alpha = "linf", 0, 0, 0
		def := []string{"77/255"}
		if a.Method == robustness.Lipschitz {
			a.Norm, def = "l2", []string{"0.001", "0.01", "0.1"}
		}
		if o.eps == nil {
			o.eps = def
		}
	}
	return nil
}

// path is where the result goes.
func (o *options) path() string { return run.ResultPath(o.out, "certify", o.Set, o.Checkpoint) }

// stored returns certify.json where it is to be shown.
func (o *options) stored(r *run.Run) (*record.Certify, error) {
	with := base.Replacing{Force: o.force, IfNeeded: o.ifNeeded, Place: "--out-dir FOLDER"}
	return base.Stored(r, &o.Subject, o.path(), with, record.Certify{Options: o.ask}, func(d *record.Certify) (bool, error) { return d.Holds(o.ask), nil })
}

// attacked returns the worst cases that attacks of the run found, nil where there are none
// or no proof is compared with them. It is read before the work, which a damaged file
// would otherwise cost.
func (o *options) attacked(r *run.Run) (*record.Worst, error) {
	if robustness.Smoothed(o.ask.Method) {
		return nil, nil
	}
	w, err := record.ReadIfThere[record.Worst](run.ResultPath(r.Dir, "worst", o.Set, o.Checkpoint))
	if err != nil {
		return nil, base.RunError(fmt.Errorf("%w; the proof is compared with it: remove it to do without", err))
	}
	return w, nil
}

// sandwich compares d with the worst cases w, if there are any.
func sandwich(d *record.Certify, w *record.Worst) error {
	if w == nil {
		return nil
	}
	return robustness.Sandwich(d, w)
}

// show prints a result and checks its gates.
func (o *options) show(s *base.Streams, d *record.Certify, gates []base.Gate) error {
	s.Warn(d.Warnings...)
	if err := s.Result(d, func(w io.Writer) error { return Table(d).Write(w, o.Format) }); err != nil {
		return err
	}
	return base.CheckGates(gates, d.Scores)
}

// Table has a row for each budget.
func Table(d *record.Certify) *render.Table {
	o := d.Options
	t := &render.Table{
		Title:   fmt.Sprintf("%s: certified R@1, %s of %d, %s by %s", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, o.Norm, o.Method),
		Columns: []render.Column{{Name: "eps"}, {Name: "certified", Percent: true, Digits: 2, Better: 1}, {Name: "not proven", Percent: true, Digits: 2}, {Name: "wrong when clean", Percent: true, Digits: 2}},
	}
	switch o.Method {
	case robustness.Mean:
		t.Title = fmt.Sprintf("%s: certified R@1 of mean embeddings under noise (not of the network), %s of %d, %s, sigma %.4g, %d samples", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, o.Norm, o.Sigma, o.Samples)
		t.Columns[3].Name = "mean is wrong"
		t.Columns = append(t.Columns, render.Column{Name: "total variation", Percent: true, Digits: 2, Better: 1}, render.Column{Name: "Lipschitz", Percent: true, Digits: 2, Better: 1})
	case robustness.Vote:
		t.Title = fmt.Sprintf("%s: certified R@1 of a vote under noise (not of the network), %s of %d, %s, sigma %.4g, %d samples", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, o.Norm, o.Sigma, o.Samples)
		t.Columns[3].Name = "wrong class wins"
	}
	if o.Moves {
		t.Columns = append(t.Columns, render.Column{Name: "G1", Percent: true, Digits: 2, Better: 1}, render.Column{Name: "GA", Percent: true, Digits: 2, Better: 1})
	}
	for _, p := range d.Points {
		c := p.Certified
		wrong := 0 + math.Round((1-c.Value-p.Abstained)*float64(d.Queries))/float64(d.Queries) // 0 + -0 is 0
		row := []render.Cell{render.Text(text.Eps(o.Norm, p.Eps)), render.Interval(c.Value, c.CI95[0], c.CI95[1]), render.Number(p.Abstained), render.Number(wrong)}
		if p.Lipschitz != nil {
			row = append(row, render.Number(*p.TotalVariation), render.Number(*p.Lipschitz))
		}
		if p.Moved != nil {
			row = append(row, render.Interval(p.Moved.One.Value, p.Moved.One.CI95[0], p.Moved.One.CI95[1]), render.Interval(p.Moved.All.Value, p.Moved.All.CI95[0], p.Moved.All.CI95[1]))
		}
		t.Rows = append(t.Rows, row)
	}
	rows := text.Plural(d.Gallery, "image", "images")
	switch o.Gallery {
	case worst.Trimmed:
		rows += " that are retrieved right themselves (trimmed)"
	case worst.Prototypes:
		rows = text.Plural(d.Gallery, "prototype", "prototypes")
	}
	t.Notes = append(t.Notes,
		"certified: a lower bound, since a query that is not proven may be robust; the gallery is fixed, and only pixels of the query change",
		fmt.Sprintf("gallery of %s; shares are of all queries, intervals exact", rows))
	if robustness.Smoothed(o.Method) {
		clean, _ := d.Scores.Get(robustness.CleanRecall)
		t.Notes = append(t.Notes, fmt.Sprintf("recall@1 of the network without noise: %.2f %%; each certificate is wrong with probability %.3g at most", 100*clean.Value, o.Alpha))
	}
	if o.Moves {
		t.Notes = append(t.Notes, "G1, GA: the query stays as it is, and one image of the gallery moves within the budget, or all do")
	}
	if a := d.Attacked; a != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("with worst.json at eps %s: of %s %d are certified, %d broken, %d unknown", text.Eps(o.Norm, a.Eps), text.Plural(a.Queries, "query", "queries"), a.Certified, a.Broken, a.Unknown))
	}
	if o.Radii {
		t.Notes = append(t.Notes, fmt.Sprintf("largest budget at which a query is certified: %.3g", d.Largest))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("cost: %d images forward, %s", d.Cost.Forward, text.Duration(d.Cost.Seconds)))
	base.LabelSource(t, d.Source)
	return t
}
