package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/experiment"
	"tercet/internal/fsx"
	"tercet/internal/metric"
	"tercet/internal/report"
)

type attackOptions struct {
	subject
	attack     string
	profile    string
	eps, step  string
	iterations int
	norm       string
	direction  string
	rule       string
	start      string
	restarts   int
	keep       string
	queries    int
	sample     bool
	batch      int
	seed       uint64
	bootstrap  int
	examples   int
	save       string
	failUnder  []string
	format     string
	changed    func(flag string) bool
}

func newAttack(s *Streams) *cobra.Command {
	var o attackOptions
	return command{
		use:   "attack",
		short: "Perturb query images and see what retrieval makes of them",
		long: `
Runs the embedding-shift attack (ES) on a run's network: each query image is
moved, within a small ball of pixels, so that its embedding goes as far as it
can. ES:D is how far it goes (0 to 2), ES:R the recall@1 that is left. Both are
given as the published code computes them and as they should be. Writes
attack.json and a picture into the run's directory.`,
		examples: []example{
			{"the published budget for images of this size, first 256 queries", "tercet attack --run runs/first --queries 256", false},
			{"a budget of one's own: 16/255 in 50 steps chosen by the attack, three random starts", "tercet attack --run runs/first --eps 16/255 --steps 50 --rule auto --start random --restarts 3 --keep best", false},
		},
		exits: []int{ExitData, ExitGate, ExitInterrupted},
		flags: func(cmd *cobra.Command) {
			o.addRun(cmd)
			fs := cmd.Flags()
			fs.StringVar(&o.attack, "attack", "es", "es")
			fs.StringVar(&o.profile, "profile", "auto", "budget: rob28 (77/255, 3/255, 32 steps), rob224 (8/255, 3/255, 32), or auto by the images' size")
			fs.StringVar(&o.eps, "eps", "", "radius of the ball, pixels in [0, 1]: 0.03 or 8/255")
			fs.StringVar(&o.step, "step", "", "length of a step, as eps; by default the profile's, or eps where there is one step (FGSM)")
			fs.IntVar(&o.iterations, "steps", 32, "gradient steps")
			fs.StringVar(&o.norm, "norm", "linf", "ball: linf or l2")
			fs.StringVar(&o.direction, "direction", "sign", "sign or normalized gradient")
			fs.StringVar(&o.rule, "rule", "fixed", "step size: fixed or auto")
			fs.StringVar(&o.start, "start", "clean", "clean or random; with restarts, the runs after the first start at random")
			fs.IntVar(&o.restarts, "restarts", 1, "runs, of which each image's best counts; those after the first start at random")
			fs.StringVar(&o.keep, "keep", "last", "last or best iterate")
			fs.IntVar(&o.queries, "queries", 0, "images to attack, 0 for all; the gallery is always whole")
			fs.BoolVar(&o.sample, "sample", false, "draw the queries at random instead of taking the first")
			fs.IntVar(&o.batch, "batch", 128, "images crafted together; published scores are means over batches")
			fs.Uint64Var(&o.seed, "seed", 0, "seed of the draw and of random starts")
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "resamples for the 95 % intervals; 0 gives none")
			fs.IntVar(&o.examples, "save-examples", 8, "images to draw; 0 draws nothing")
			fs.StringVar(&o.save, "save-images", "", "write the attacked images and their clean ones to `FOLDER` as npy, all queries")
			fs.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with 4 if a score is lower: `SCORE=LIMIT`, such as ES:R=0.2 (repeatable)")
			fs.StringVar(&o.format, "format", "text", "table format: "+strings.Join(report.Formats(), ", "))
			o.changed = fs.Changed
		},
		run: func(ctx context.Context, _ []string) error { return runAttack(ctx, s, o) },
	}.build()
}

func runAttack(ctx context.Context, s *Streams, o attackOptions) error {
	if o.run == "" {
		return usagef("name what to attack: --run DIRECTORY")
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := atLeast(flagCount{"queries", o.queries, 0}, flagCount{"batch", o.batch, 1}, flagCount{"bootstrap", o.bootstrap, 0}, flagCount{"save-examples", o.examples, 0}); err != nil {
		return err
	}
	if o.bootstrap > metric.MaxResamples {
		return usagef("--bootstrap is %d; give at most %d", o.bootstrap, metric.MaxResamples)
	}
	if o.attack != "es" {
		return usagef("--attack is %q; this version has es", o.attack)
	}
	if err := report.CheckFormat(o.format); err != nil {
		return &ExitError{ExitUsage, err}
	}
	gates, err := parseGates(o.failUnder)
	if err == nil {
		err = knownGates(gates, experiment.AttackKeys([]string{"ES"}))
	}
	if err != nil {
		return err
	}
	r, err := o.open()
	if err != nil {
		return err
	}
	defer r.Close()
	opts, err := o.settings(r)
	if err != nil {
		return &ExitError{ExitUsage, err}
	}
	view := &stages{s: s}
	defer view.close()
	a, err := r.Attack(ctx, o.checkpoint, o.set, opts, view.say)
	if err != nil {
		return runError(err)
	}
	view.close()
	for _, w := range a.Doc.Warnings {
		s.Note("warning: %s", w)
	}
	if err := experiment.WriteJSON(r.Path("attack.json"), a.Doc); err != nil {
		return err
	}
	if o.save != "" {
		if err := saveImages(o.save, a); err != nil {
			return err
		}
		s.Note("wrote %s", o.save)
	}
	if o.examples > 0 {
		picture(s, func() (string, error) { return a.DrawAttack(r.Path("figures"), o.examples) })
	}
	if err := s.Result(a.Doc, func(w io.Writer) error { return attackTable(a.Doc).Write(w, o.format) }); err != nil {
		return err
	}
	return checkGates(gates, a.Doc.Scores["fixed"])
}

// settings lays the flags that were given over the profile.
func (o attackOptions) settings(r *experiment.Run) (experiment.AttackOptions, error) {
	a := experiment.AttackOptions{Attacks: []string{"ES"}, Variants: []string{"published", "fixed"}, Queries: o.queries, Sample: o.sample, Batch: o.batch, Seed: o.seed, Bootstrap: o.bootstrap, Pictures: o.examples}
	if err := a.AttackProfile(o.profile, r.Manifest.Data.Train.Shape[0]); err != nil {
		return a, err
	}
	if o.changed("norm") && o.norm != a.Norm && (o.eps == "" || o.step == "") {
		return a, fmt.Errorf("--norm %s needs --eps and --step of its own: the profile's are for the %s ball", o.norm, a.Norm)
	}
	var err error
	if o.eps != "" {
		if a.Eps, err = fraction("--eps", o.eps); err != nil {
			return a, err
		}
	}
	if o.step != "" {
		if a.Step, err = fraction("--step", o.step); err != nil {
			return a, err
		}
	}
	for flag, set := range map[string]func(){
		"steps":     func() { a.Iterations = o.iterations },
		"norm":      func() { a.Norm = o.norm },
		"direction": func() { a.Direction = o.direction },
		"rule":      func() { a.Rule = o.rule },
		"start":     func() { a.Start = o.start },
		"restarts":  func() { a.Restarts = o.restarts },
		"keep":      func() { a.Keep = o.keep },
	} {
		if o.changed(flag) {
			set()
		}
	}
	if a.Iterations == 1 && o.step == "" {
		a.Step = a.Eps // FGSM, as published
	}
	if o.save != "" {
		a.Pictures = int(^uint(0) >> 1) // all queries
	}
	return a, a.Validate()
}

// fraction reads 0.03 or 8/255.
func fraction(flag, s string) (float64, error) {
	over, under, ok := strings.Cut(s, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	if err == nil && ok {
		var d float64
		if d, err = strconv.ParseFloat(strings.TrimSpace(under), 64); err == nil {
			v /= d
		}
	}
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0, fmt.Errorf("%s %q is not a number such as 0.03 or 8/255", flag, s)
	}
	return v, nil
}

// saveImages writes what an independent check needs: images before and after,
// which items they are, and the embeddings' labels.
func saveImages(dir string, a *experiment.Attacked) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	p := a.Result.Pictures[len(a.Result.Pictures)-1]
	for name, x := range map[string]*array.Array{"clean.npy": p.Clean, "adversarial.npy": p.Adversarial, "gallery.npy": a.Embedded.Vectors} {
		if err := fsx.Write(filepath.Join(dir, name), 0o644, func(w io.Writer) error { return data.WriteNPY(w, x) }); err != nil {
			return err
		}
	}
	queries := make([]int32, len(a.Result.Queries))
	for i, q := range a.Result.Queries {
		queries[i] = int32(q)
	}
	for name, l := range map[string][]int32{"queries.npy": queries, "labels.npy": a.Embedded.Data.Labels()} {
		if err := fsx.Write(filepath.Join(dir, name), 0o644, func(w io.Writer) error { return data.WriteNPYLabels(w, l) }); err != nil {
			return err
		}
	}
	return nil
}

func attackTable(d *experiment.AttackDoc) *report.Table {
	o := d.Options
	size := fmt.Sprintf("of %.5g", o.Step)
	if o.Rule == "auto" {
		size = "of automatic size"
	}
	t := &report.Table{
		Title: fmt.Sprintf("%s: embedding shift on %d queries of %d, %s eps %.5g, %d steps %s",
			d.Source.Run, d.Queries, d.Source.Items, o.Norm, o.Eps, o.Iterations, size),
		Columns: []report.Column{{Name: "score"}, {Name: "published", Digits: 4}, {Name: "fixed", Digits: 4}},
	}
	if v, ok := d.Clean["fixed"].Get("recall@1"); ok {
		t.Rows = append(t.Rows, []report.Cell{report.Text("recall@1, clean"), report.Missing(), report.Measured(v)})
	}
	for _, sc := range d.Scores["fixed"] {
		p, _ := d.Scores["published"].Get(sc.Key)
		t.Rows = append(t.Rows, []report.Cell{report.Text(sc.Key), report.Measured(p), report.Measured(sc.Value)})
	}
	t.Notes = []string{
		fmt.Sprintf("perturbations: mean |delta|inf %.4f, largest %.4f; mean |delta|2 %.3f; vanished gradients %.1f %%", d.Attacks[0].Radius.MeanLinf, d.Attacks[0].Radius.MaxLinf, d.Attacks[0].Radius.MeanL2, 100*d.Attacks[0].ZeroGradient),
		fmt.Sprintf("cost: %d images forward, %d backward, %s", d.Cost.Forward, d.Cost.Backward, duration(d.Cost.Seconds)),
	}
	return t
}
