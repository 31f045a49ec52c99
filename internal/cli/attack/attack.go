package attack

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/attack"
	"tercet/internal/attack/worst"
	"tercet/internal/cli/base"
	"tercet/internal/embed/store"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

type options struct {
	base.Subject
	base.Outcome
	// ask is what is asked for, but for the variants and the budget.
	ask       record.AttackOptions
	device    string
	suite     string
	variant   string
	profile   string
	eps, step string
	curve     string
	save      string
	galleries []string
	task      string
	merge     bool
	battery   bool
	nearest   int
	moves     bool
	verify    string
	transfer  []string
	failOver  []string
	out       string
	force     bool
	ifNeeded  bool
	changed   func(flag string) bool
	points    []float64 // of the curve; nil without one
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "attack [RUN]",
		Short: "Attack images with adversarial perturbations and measure retrieval",
		Long: `
Perturbs images within a small eps-ball around their pixels and measures retrieval in the
clean gallery. The suite ers runs nine attacks. Their ten scores give the empirical
robustness score (ERS; Zhou and Patel, CVPR 2022):

` + help() + `
Each score comes in two variants: published (as robrank computes it, bugs included) and
fixed (as the papers describe it). Tables also show each score without perturbation
(eps 0), which is the upper limit of ERS. The command writes attack.json and a picture
into the run's directory, or into --out-dir; with --curve, curve.json and a plot.
For another split or checkpoint the files are attack-validation.json, attack-best.json
and so on. An existing result is replaced only with --force, or if the new one covers it:
the same settings and at least its scores, queries, draws and eps.

The suite worst searches, for each query, for any perturbation within the ball that makes
the nearest image a wrong one. Its attacks run one after another, each on the queries
that are still unbroken:

` + worstHelp(false) + `
The suite plus adds these attacks on the queries that worst leaves unbroken:

` + worstHelp(true) + `
wcR@1 is the share of queries that no attack has broken: an upper bound on the share that
is robust. It is written to worst.json, with the attack that broke each query. An
interrupted command continues after the last completed attack. wcR@1 does not cover a
gallery that changes, or perturbations outside the ball. If the run has a certify.json, a
query that is certified and broken ends the command with exit code 1.

--task divides the queries among machines, which write attack.json.part-1-of-3 and so
on. They share the gallery's embeddings in attack.json.gallery. An existing part of the
same attack is reused; a part of another attack is replaced only with --force. --merge,
with the same other flags, combines all parts to attack.json.`,
		Examples: []base.Example{
			{Why: "embedding shift only: a quick look at the first 256 queries", Line: "tercet attack --run runs/first --queries 256"},
			{Why: "the robustness score, its ten scores and their intervals", Line: "tercet attack --run runs/first --suite ers --queries 256 --sample"},
			{Why: "in a script: run once, and exit code 4 if the embedding changes by more than 0.5", Line: "tercet attack --run runs/first --suite ers --if-needed --fail-over ES:D=0.5"},
			{Why: "a custom budget: 16/255 in 50 steps of automatic size, three random starts", Line: "tercet attack --run runs/first --eps 16/255 --pgd-steps 50 --rule auto --start random --restarts 3 --iterate best --out-dir runs/first/strong"},
			{Why: "how many of 1,000 queries withstand all attacks, in three kinds of gallery", Line: "tercet attack --run runs/first --suite worst --queries 1000 --sample --gallery full,trimmed,prototype"},
			{Why: "the worst case by more attacks, also with images made for another network", Line: "tercet attack --run runs/val-width-8 --suite plus --queries 16 --transfer runs/val-width-4"},
			{Why: "scores against eps, at 0, 7/255, ... 77/255", Line: "tercet attack --run runs/first --attack ES,CA+,CA- --curve eps=0..77/255:12 --queries 64"},
		},
		Exits: []int{base.ExitData, base.ExitGate, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddRun(cmd)
			base.AddDevice(fs, &o.device, "by default cpu")
			fs.IntVar(&o.ask.Queries, "queries", 0, "number of query images to attack, 0 for all; the gallery is always complete")
			fs.BoolVar(&o.ask.Sample, "sample", false, "draw the queries at random instead of taking the first")
			fs.Uint64Var(&o.ask.Seed, "seed", 0, "seed of queries, of targets and of random starts")
			base.Group(fs, "What to attack")
			fs.StringSliceVar(&o.ask.Attacks, "attack", []string{attack.ByDefault}, "attacks by name, `LIST` such as CA+,GTM")
			fs.StringVar(&o.suite, "suite", "", "run a suite of attacks: ers; worst (worst case of each query); plus (worst with more attacks)")
			fs.StringSliceVar(&o.galleries, "gallery", []string{worst.Full}, "galleries of --suite worst, `LIST` of full, trimmed (only rows whose own nearest neighbor is right) and prototype (one row per class)")
			fs.IntVar(&o.nearest, "k", 1, "with --suite worst, a query is broken if none of its `K` nearest rows is right")
			fs.BoolVar(&o.moves, "move-gallery", false, "with --suite worst, also attack images of the gallery and leave the queries unchanged: one image (G1), all images (GA), or one image for many queries (hub)")
			fs.BoolVar(&o.battery, "battery", false, "with --suite worst, test for gradient masking: 18 checks on up to 200 queries, and two more with the networks of --transfer")
			fs.StringVar(&o.verify, "verify", "", "with --suite worst, also try your own adversarial images, last: `FOLDER` holds adversarial.npy and the indices of the attacked images, queries.npy")
			fs.StringArrayVar(&o.transfer, "transfer", nil, "with --suite worst, also try images that break the network of another `RUN` on the same images, ideally one without defense (repeatable)")
			base.Words(fs, &o.variant, "variant", "both", []string{"published", "fixed", "both"}, "published, fixed or both")
			base.Group(fs, "Attacks")
			base.Words(fs, &o.profile, "profile", "auto", profiles(), "budget: rob28 (77/255, 3/255, 32 steps), rob224 (8/255, 3/255, 32), or auto by the images' size")
			fs.StringVar(&o.eps, "eps", "", "radius of the ball, for pixels in [0, 1]: 0.03 or 8/255; 0: no perturbation")
			fs.StringVar(&o.step, "step", "", "step size, in the same unit as eps; default: the profile's, or eps for a single step (FGSM)")
			base.Words(fs, &o.ask.Norm, "norm", "linf", []string{"linf", "l2"}, "norm of the ball: linf or l2")
			fs.IntVar(&o.ask.Iterations, "pgd-steps", 32, "gradient steps")
			base.Words(fs, &o.ask.Rule, "rule", "fixed", []string{"fixed", "auto"}, "step size: fixed or auto")
			base.Words(fs, &o.ask.Direction, "direction", "sign", []string{"sign", "normalized"}, "step direction: sign of the gradient, or the normalized gradient")
			base.Words(fs, &o.ask.Start, "start", "clean", []string{"clean", "random"}, "starting point: the clean image or a random one; restarts after the first are random")
			fs.IntVar(&o.ask.Restarts, "restarts", 1, "number of starts; the best result of each image is kept; starts after the first are random")
			base.Words(fs, &o.ask.Keep, "iterate", "last", []string{"last", "best"}, "which iterate to keep: last or best")
			base.Group(fs, "Budget")
			fs.IntVar(&o.ask.Draws, "target-draws", 1, "number of random target draws; scores are averaged over them"+usedBy(attack.Draws))
			fs.IntVar(&o.ask.W, "ca-queries", 1, "w, number of queries that each candidate attacks"+usedBy(attack.W))
			fs.IntVar(&o.ask.M, "qa-candidates", 1, "m, number of candidates that each query attacks"+usedBy(attack.M))
			fs.BoolVar(&o.ask.Near, "near-targets", false, "draw targets from the nearest 1 to 5 % instead of from all items"+usedBy(attack.Near))
			fs.BoolVar(&o.ask.Pure, "distance-objective", false, "minimize the distance instead of the sum of hinges over the gallery"+usedBy(attack.Pure))
			fs.Float64Var(&o.ask.XiWeight, "spqa-weight", 0, "xi, fixed weight of the images to keep in place; 0: 1 for SPQA+, 100 for SPQA- (ECCV 2020)"+usedBy(attack.XiFixed))
			fs.Float64Var(&o.ask.XiScale, "spqa-weight-scale", 0, "k of the weight min(exp(k * loss), 1e9), as in robrank: 2e4 for MNIST, 4e4 for Fashion and CUB, 7e4 for Cars and SOP"+usedBy(attack.XiScale))
			base.Group(fs, "Single attacks")
			fs.StringVar(&o.task, "task", "", "attack only share `i/n` of the queries (i from 1), or auto/n with the scheduler's index; combine with --merge")
			fs.BoolVar(&o.merge, "merge", false, "combine the results of all tasks")
			base.Group(fs, "Tasks")
			fs.StringVar(&o.curve, "curve", "", "scores as a function of eps: `SPEC` eps=0..77/255:12 means 12 points from 0 to 77/255")
			fs.IntVar(&o.ask.Bootstrap, "bootstrap", 1000, "resamples for the 95 % intervals, at least 100; 0 gives none")
			fs.IntVar(&o.ask.Batch, "batch", 0, "batch of queries over which published scores are averaged first; 0: 128, or 112 with rob224")
			base.Group(fs, "Scores")
			o.AddOutcome(cmd, "ERS=0.3 or ES:R(published)=0.2")
			fs.StringArrayVar(&o.failOver, "fail-over", nil, "exit with code 4 if a score is higher, for scores where lower is more robust ("+strings.Join(lowerScores(), ", ")+"): `SCORE=LIMIT` (repeatable)")
			fs.IntVar(&o.ask.Pictures, "examples", 8, "number of queries to show in the picture; 0: no picture")
			fs.StringSliceVar(&o.ask.PictureAttacks, "example-attacks", nil, "attacks to show in the picture, `LIST` such as ES,GTM; default: ES, or the first")
			fs.BoolVar(&o.ask.PerQuery, "per-query", false, "store the value of each query in attack.json, to compare runs query by query")
			fs.StringVar(&o.save, "save-images", "", "write images before and after, targets and values of all queries, attacks and variants to `FOLDER` as npy; with --suite worst the image that broke each query")
			fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; default: the run's directory")
			fs.BoolVar(&o.force, "force", false, "replace an existing attack.json or curve.json even if it has more scores or other settings")
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "show the existing attack.json if it covers the request and is of these weights and images")
			base.Group(fs, "Output")
			cmd.MarkFlagsMutuallyExclusive("attack", "suite")
			cmd.MarkFlagsMutuallyExclusive("task", "merge")
			for _, flag := range []string{"task", "merge"} {
				base.Exclusive(cmd, flag, "curve", "save-images", "examples", "example-attacks", "if-needed")
			}
			base.Exclusive(cmd, "if-needed", "force", "save-images")
			base.Least(fs, 0, "queries", "batch", "examples")
			base.Least(fs, 1, "k", "pgd-steps", "restarts", "target-draws", "ca-queries", "qa-candidates")
			cmd.MarkFlagsMutuallyExclusive("spqa-weight", "spqa-weight-scale")
			base.OldNames(fs, "steps", "pgd-steps", "keep", "iterate", "draws", "target-draws", "w", "ca-queries", "m", "qa-candidates", "near", "near-targets",
				"pure", "distance-objective", "xi", "spqa-weight", "xi-scale", "spqa-weight-scale", "save-examples", "examples", "examples-of", "example-attacks", "out", "out-dir")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, _ []string) error { return runAttack(ctx, s, o) },
	}.Build()
}

func runAttack(ctx context.Context, s *base.Streams, o options) error {
	if err := base.OpenDevice(s, o.device); err != nil {
		return err
	}
	if o.ensemble() != "" {
		return runWorst(ctx, s, o)
	}
	gates, err := o.checkAttack()
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
		return err
	}
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	if w := unreached(opts); w != "" {
		s.Note("warning: %s", w)
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	if o.out == "" {
		o.out = r.Dir
	}
	if o.points != nil {
		if err := o.storedCurve(r, opts); err != nil {
			return err
		}
	} else if d, err := o.stored(r, opts); err != nil {
		return err
	} else if d != nil {
		s.Note("%s is up to date", o.path())
		return o.show(s, d, gates)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if o.task != "" {
		return runTask(ctx, s, o, r, opts, view)
	}
	if o.points != nil {
		return runCurve(ctx, s, o, r, opts, view)
	}
	var a *robustness.Attacked
	if o.merge {
		a, err = robustness.MergeAttack(ctx, r, o.Checkpoint, o.Set, opts, o.path(), base.Program(), progress.Progress{Say: view.Say, Note: s.Note})
	} else {
		a, err = robustness.Attack(ctx, r, o.Checkpoint, o.Set, opts, view.Say)
	}
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	figures := run.FigureFolder(o.out, o.Set, o.Checkpoint)
	if err := base.Undraw(figures, "attack", "attack-gallery"); err != nil {
		return err
	}
	if err := record.Write(o.path(), a.Doc); err != nil {
		return err
	}
	if o.save != "" {
		if err := saveImages(o.save, a); err != nil {
			return err
		}
		s.Note("wrote %s", o.save)
	}
	if o.ask.Pictures > 0 && !o.NoPictures && !o.merge {
		if err := base.Picture(s, func() (string, error) {
			return a.DrawAttack(figures, o.ask.Pictures, o.drawn())
		}); err != nil {
			return err
		}
	}
	return o.show(s, a.Doc, gates)
}

// open opens the run.
func (o *options) open() (*run.Run, error) {
	r, err := o.Open()
	if err == nil {
		return r, nil
	}
	if _, folder := store.ReadItems(o.Run); folder == nil {
		return nil, base.Usagef("--run %s is a folder of embeddings: attack changes pixels, so it needs the images and the network; give the run that embedded them", o.Run)
	}
	return nil, err
}

// show prints a result and checks its gates.
func (o *options) show(s *base.Streams, d *record.Attack, gates []base.Gate) error {
	s.Warn(d.Warnings...)
	if err := s.Result(d, func(w io.Writer) error { return AttackTable(d).Write(w, o.Format) }); err != nil {
		return err
	}
	return base.CheckGates(gates, gateScores(d.Scores)...)
}

// drawn lists the attacks of the picture: with --save-images more were kept.
func (o *options) drawn() []string {
	if o.ask.PictureAttacks != nil {
		return o.ask.PictureAttacks
	}
	return []string{attack.Shown(o.ask.Attacks)}
}

// checkAttack refuses what is wrong whatever the run.
func (o *options) checkAttack() ([]base.Gate, error) {
	if o.Run == "" {
		return nil, base.Usagef("name what to attack: --run DIRECTORY")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	for _, check := range []func() error{
		func() error { return base.CheckResamples(o.ask.Bootstrap) }, o.savable, o.names, o.effects, o.checkCurve,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return o.attackGates()
}
