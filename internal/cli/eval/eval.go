package eval

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/embed/store"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type options struct {
	base.Subject
	base.Outcome
	galleryOptions
	device      string
	force       bool
	ks          []int
	distance    string
	bootstrap   int
	kmeans      int
	nInit       int
	seed        uint64
	noKMeans    bool
	noBaselines bool
	allScores   bool
	ifNeeded    bool
	pairs       bool
	threshold   float64
	perQuery    bool
	perClass    bool
	classes     string
	intervals   string
	fmr         []float64
	save        string
	out         string
	changed     func(flag string) bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "eval [RUN]",
		Short: "Evaluate embeddings by retrieval and clustering, against two baselines",
		Long: `
Scores the embeddings of a run's test images, or of any npy file: recall@k, mAP,
MAP@R, R-precision and MRR with the query left out by its index, and k-means
scored by NMI, AMI, ARI, accuracy, purity and more, each with its definition. With
a threshold, from the loss or from --threshold, all pairs are also classified as
same or different: accuracy, precision, recall, F1, AUC and EER. A run is compared
with two baselines: raw pixels, and its network before training.

Writes eval.json and pictures into the run's directory, for the test images and the
last checkpoint. With --split and --checkpoint the file is eval-validation.json,
eval-best.json, eval-train-best.json and so on; with --out it is FILE, without
pictures. tercet report reads eval.json by default.

An existing result is replaced only if the new one covers it (its scores, images and
settings), if the run has been trained further since, or with --force. The same holds
for FILE of --out, which must not be a folder, nor a file of the run itself; missing
folders are made. A result of --embeddings is written only with --out.

Vectors of --embeddings above 1 GiB stay in their files, if k-means and pairs are not
asked for, or if a flag of large galleries is given. With --out the same command resumes
after an interruption, from FILE.partial. --task divides the gallery among machines,
which keep counts in FILE.part-i-of-n, and --merge evaluates them. The result has the
same bytes for any number of tasks.

With --save-embeddings X.npy it exports the embeddings and scores nothing: X.npy,
X.labels.npy and X.items.csv, with the item, file, label and class of each row. Each
split numbers its labels from 0. If splits have different classes, join their exports
by the class names in the csv. Files of another export are replaced only with --force.`,
		Examples: []base.Example{
			{Why: "evaluate a run", Line: "tercet eval --run runs/first"},
			{Why: "its training images, in eval-train.json", Line: "tercet eval --run runs/first --split train --no-kmeans"},
			{Why: "export the embeddings of the test images", Line: "tercet eval --run runs/first --save-embeddings X.npy"},
			{Why: "evaluate embeddings of another tool", Line: "tercet eval --embeddings X.npy --labels Y.npy --k 1,10"},
			{Why: "a third of a large gallery, counted by one of three machines", Line: "tercet eval --embeddings X.npy --labels Y.npy --no-kmeans --out eval.json --task 1/3"},
			{Why: "in a script: exit code 4 unless recall@1 is at least 0.9", Line: "tercet eval --run runs/first --fail-under r@1=0.9 --json"},
		},
		Exits: []int{base.ExitData, base.ExitGate, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddRun(cmd)
			base.AddDevice(fs, &o.device, "by default cpu")
			o.AddFiles(cmd)
			base.Group(fs, "Input")
			o.galleryOptions.add(cmd)
			fs.IntSliceVar(&o.ks, "k", []int{1, 2, 4, 8}, "the k of recall@k (of a run: by default its config's)")
			fs.StringVar(&o.distance, "distance", metric.Euclidean, "euclidean or cosine")
			fs.BoolVar(&o.pairs, "pairs", false, "score all pairs of items as same or different also where there is no threshold (AUC, EER)")
			fs.Float64Var(&o.threshold, "threshold", 0, "Euclidean `DISTANCE` up to which a pair counts as same (of a run: by default its loss's, if that fixes one)")
			fs.IntVar(&o.kmeans, "clusters", 0, "clusters of k-means; 0 takes the number of classes (of a run: by default its config's)")
			fs.IntVar(&o.nInit, "n-init", 10, "starts of k-means; the best counts (default for a run: as in its config)")
			fs.BoolVar(&o.noKMeans, "no-kmeans", false, "leave out the clustering scores")
			fs.BoolVar(&o.noBaselines, "no-baselines", false, "leave out raw pixels and the untrained network")
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "resamples for the 95 % intervals, at least 100; 0 gives none (of a run: by default its config's)")
			fs.StringVar(&o.intervals, "intervals", "queries", "what the intervals resample: queries, or classes, which gives wider ones as queries of one class are alike")
			fs.Float64SliceVar(&o.fmr, "fmr", nil, "false match rates such as 0.001,0.0001 at which pairs are scored: fnmr@fmr and tar@far, with their thresholds")
			fs.Uint64Var(&o.seed, "seed", 0, "seed of k-means and of the intervals (of a run: by default its config's)")
			base.Group(fs, "Scores")
			o.AddOutcome(cmd, "r@1=0.9")
			fs.BoolVar(&o.allScores, "all-scores", false, "print every score; text and markdown leave out variants, csv and json do not")
			fs.BoolVar(&o.perQuery, "per-query", false, "store the retrieval scores of each query in the result, so that runs can be compared query by query")
			fs.BoolVar(&o.perClass, "per-class", false, "store the retrieval scores of each class in the result")
			fs.StringVar(&o.classes, "class-scores", "", "write the retrieval scores of each class to `FILE`, .csv or .json")
			fs.StringVar(&o.save, "save-embeddings", "", "export the embeddings to `FILE`, such as X.npy, with X.labels.npy and X.items.csv; scores nothing")
			fs.StringVarP(&o.out, "out", "o", "", "write the result to `FILE` in place of the run's directory; of --embeddings, write it at all")
			fs.BoolVar(&o.force, "force", false, "replace a result that has more, or is of other settings")
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "show the run's result as it is where it has these options, weights and images")
			base.Group(fs, "Output")
			cmd.MarkFlagsMutuallyExclusive("force", "if-needed")
			cmd.MarkFlagsMutuallyExclusive("class-scores", "if-needed")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, _ []string) error { return runEval(ctx, s, o) },
	}.Build()
}

func runEval(ctx context.Context, s *base.Streams, o options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if err := base.OpenDevice(s, o.device); err != nil {
		return err
	}
	if o.save != "" {
		return runExport(ctx, s, o)
	}
	if err := o.counts(); err != nil {
		return err
	}
	if o.Run == "" && (o.ifNeeded || o.force && o.out == "") {
		return base.Usagef("--if-needed is about the result of a run, --force about one that is replaced: with --embeddings give --out and leave out --if-needed")
	}
	if err := o.outputs(); err != nil {
		return err
	}
	if o.task != "" {
		return runTask(ctx, s, o)
	}
	gates, err := o.measuredGates()
	if err != nil {
		return err
	}
	blocks := o.inBlocks()
	inputs := []string{o.Embeddings, o.Labels}
	if blocks {
		inputs = inputs[1:]
	}
	defer base.SaveMemory(inputs...)()
	view := &base.Stages{Streams: s}
	defer view.Close()
	var e *evaluate.Evaluation
	switch {
	case blocks:
		e, err = stored(ctx, s, o, view.Say)
	case o.Run == "":
		e, err = files(ctx, s, o, view.Say)
	default:
		e, err = evaluated(ctx, s, o, view)
	}
	if err != nil {
		return err
	}
	view.Close()
	if o.classes != "" {
		if err := e.WriteClasses(o.classes); err != nil {
			return err
		}
		s.Note("wrote %s", o.classes)
	}
	for _, w := range e.Doc.Warnings {
		s.Note("warning: %s", w)
	}
	if err := s.Result(e.Doc, func(w io.Writer) error {
		return EvalTable(e.Doc, o.allScores || o.Format == "csv" || o.Format == "json").Write(w, o.Format)
	}); err != nil {
		return err
	}
	return base.CheckGates(gates, e.Doc.Retrieval, e.Doc.Clustering, e.Doc.Pairs)
}

func (o options) counts() error {
	for i, k := range o.ks {
		if k < 1 || slices.Contains(o.ks[:i], k) {
			return base.Usagef("--k is %v; give each k once, at least 1", o.ks)
		}
	}
	if d := o.distance; d != metric.Euclidean && d != metric.Cosine {
		return base.Usagef("--distance is %q; give %s or %s", d, metric.Euclidean, metric.Cosine)
	}
	if t := o.threshold; o.changed("threshold") && (!(t > 0) || math.IsInf(t, 0)) {
		return base.Usagef("--threshold is %v; give a distance above 0", t)
	}
	for i, f := range o.fmr {
		if !(f > 0 && f < 1) || slices.Contains(o.fmr[:i], f) {
			return base.Usagef("--fmr is %v; give each rate once, above 0 and below 1", o.fmr)
		}
	}
	if o.intervals != "queries" && o.intervals != record.ByClass {
		return base.Usagef("--intervals is %q; give queries or classes", o.intervals)
	}
	if o.intervals == record.ByClass && o.changed("bootstrap") && o.bootstrap == 0 {
		return base.Usagef("--intervals classes: --bootstrap 0 gives no intervals; leave it out, or give at least %d", metric.MinResamples)
	}
	if given := base.Given(o.changed, "clusters", "n-init"); given != "" && o.noKMeans {
		return base.Usagef("%s: about k-means, which --no-kmeans leaves out", given)
	}
	if o.noBaselines && o.Run == "" {
		return base.Usagef("--no-baselines is about runs: embeddings of a file have no baselines")
	}
	if err := base.CheckResamples(o.bootstrap); err != nil {
		return err
	}
	return base.AtLeast(base.FlagCount{Flag: "clusters", Value: o.kmeans, Least: 0}, base.FlagCount{Flag: "n-init", Value: o.nInit, Least: 1})
}

// measuredGates reads --fail-under and refuses scores that will not be measured.
func (o options) measuredGates() ([]base.Gate, error) {
	list, err := o.Gates()
	if err != nil || len(list) == 0 {
		return list, err
	}
	ks, threshold := o.ks, o.changed("threshold")
	if o.Run != "" {
		r, err := o.Open()
		if err != nil {
			return nil, err
		}
		ks = o.settings(evaluate.Defaults(r.Config)).Ks
		if !threshold {
			if threshold, err = evaluate.ClassifiesPairs(r, o.Checkpoint); err != nil {
				return nil, base.RunError(err)
			}
		}
	}
	keys := run.RetrievalKeys(ks)
	if o.lists != "" {
		return list, base.KnownGates(list, run.KeysOf(metric.ListScores(ks, o.Labels != "", true)))
	}
	if !o.noKMeans {
		keys = append(keys, run.ClusteringKeys()...)
	}
	if threshold || o.pairs || len(o.fmr) > 0 {
		keys = append(keys, run.PairKeys(threshold, o.fmr...)...)
	}
	return list, base.KnownGates(list, keys)
}

func (o options) settings(base record.EvalOptions) record.EvalOptions {
	for flag, set := range map[string]func(){
		"k":         func() { base.Ks = o.ks },
		"bootstrap": func() { base.Bootstrap = o.bootstrap },
		"clusters":  func() { base.K = o.kmeans },
		"n-init":    func() { base.NInit = o.nInit },
		"seed":      func() { base.Seed = o.seed },
		"pairs":     func() { base.Pairs = o.pairs },
		"per-query": func() { base.PerQuery = o.perQuery },
		"per-class": func() { base.PerClass = o.perClass },
		"fmr":       func() { base.FMR = o.fmr },
		"threshold": func() { base.Threshold = &o.threshold },
	} {
		if o.changed(flag) {
			set()
		}
	}
	base.Distance, base.Limit = o.distance, o.Limit
	if o.intervals == record.ByClass {
		base.Intervals = record.ByClass
	}
	if o.changed("intervals") && !o.changed("bootstrap") && base.Bootstrap == 0 {
		base.Bootstrap = o.bootstrap // intervals were asked for, and the run's config has none
	}
	base.KMeans = !o.noKMeans
	base.Baselines = base.Baselines && !o.noBaselines
	return base
}

func files(ctx context.Context, s *base.Streams, o options, say progress.Say) (*evaluate.Evaluation, error) {
	if o.Labels == "" && !store.Is(o.Embeddings) {
		return nil, base.Usagef("--embeddings needs --labels: scores compare with true labels")
	}
	set := o.fileSettings()
	e, err := evaluate.Files(ctx, o.Embeddings, o.LabelFile(), set, o.keeper(set), say)
	if err != nil {
		return nil, base.RunError(base.LabelsError(err))
	}
	if o.out == "" {
		return e, nil
	}
	return e, writeEval(s, o.out, e.Doc)
}

// writeEval writes the document, and says where if that was asked for.
func writeEval(s *base.Streams, path string, d *record.Eval) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := record.Write(path, d); err != nil {
		return err
	}
	s.Note("wrote %s", path)
	return nil
}

func evaluated(ctx context.Context, s *base.Streams, o options, view *base.Stages) (*evaluate.Evaluation, error) {
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	set := o.settings(evaluate.Defaults(r.Config))
	path := o.out
	if path == "" {
		path = run.ResultPath(r.Dir, "eval", o.Set, o.Checkpoint)
	}
	if err := base.Writable(path); err != nil {
		return nil, err
	}
	if d, err := o.storedEval(r, path, set); err != nil {
		return nil, err
	} else if d != nil {
		s.Note("%s is up to date", path)
		return &evaluate.Evaluation{Doc: d}, nil
	}
	draw := !o.NoPictures && o.out == ""
	if draw {
		set.Neighbors = 8
	}
	e, err := evaluate.Eval(ctx, r, o.Checkpoint, o.Set, set, view.Say)
	if err != nil {
		return nil, base.RunError(err)
	}
	view.Close()
	figures := run.FigureFolder(r.Dir, o.Set, o.Checkpoint)
	if !draw && o.out == "" {
		if err := undraw(path, e.Doc.Source, figures); err != nil {
			return nil, err
		}
	}
	if err := writeEval(s, path, e.Doc); err != nil {
		return nil, err
	}
	if draw {
		for _, picture := range []func() (string, error){func() (string, error) { return e.DrawRetrieval(figures, 10) }, r.DrawCurves} {
			if err := base.Picture(s, picture); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

// undraw removes the picture of the result in path where one of other images or weights
// replaces it that is not drawn: a page would show the two together.
func undraw(path string, now record.Source, figures string) error {
	before, err := record.ReadKept[record.Eval](path)
	if before == nil || err == nil && before.Source.Items == now.Items && before.Source.Step == now.Step {
		return nil
	}
	return base.Undraw(figures, "retrieval", "retrieval-gallery")
}

// keeper refuses to replace what --out has by less of the same files, or by the result of
// others; nil where there is nothing to refuse.
func (o *options) keeper(set record.EvalOptions) run.Keeper {
	if o.out == "" || o.force {
		return nil
	}
	return func(now record.Source) error {
		return base.KeptError(record.KeepFiles(o.out, record.Eval{Options: set, Source: now}), "--out FILE")
	}
}

// storedEval returns the result that is there where it is the one asked for and
// --if-needed is given. It refuses, before the work, to replace one that the new one
// does not cover.
func (o *options) storedEval(r *run.Run, path string, set record.EvalOptions) (*record.Eval, error) {
	if o.force {
		return nil, nil
	}
	d, err := record.ReadKept[record.Eval](path)
	if d == nil {
		return nil, base.KeptError(err, "--out FILE")
	}
	step, err := r.Step(o.Checkpoint)
	if err != nil {
		return nil, base.RunError(err)
	}
	if o.ifNeeded && r.Owns(path, d.Source) && evaluate.SameEval(d, set) && r.Measures(d.Source, o.Checkpoint, step, o.Set) {
		return d, nil
	}
	return nil, base.KeptError(r.Protect(path, d.Source, o.Set, o.Checkpoint, record.Eval{Options: set}.Covers(*d)), "--out FILE")
}

// EvalTable shows an evaluation beside its baselines. For people, text and
// Markdown leave out what they rarely ask for, unless all is set.
func EvalTable(d *record.Eval, all bool) *render.Table {
	name, value := d.Source.Run, "trained"
	if name == "" {
		name, value = d.Source.Embeddings, "value"
	}
	common := map[string]record.Evaluated{}
	for b, j := range d.Baselines {
		common[b] = record.Evaluated(j)
	}
	classes := ""
	if d.Source.Classes > 0 {
		classes = text.Plural(d.Source.Classes, "class", "classes") + ", "
	}
	if d.Source.Neighbors != "" {
		name, value = d.Source.Neighbors+" of "+name, "lists"
	}
	title := fmt.Sprintf("%s: %s, %sD = %d", name, text.Plural(d.Source.Items, "item", "items"), classes, d.Source.Dim)
	if d.Gallery > 0 {
		title += fmt.Sprintf(", %s, %s in the gallery", text.Plural(d.Searched, "query", "queries"), text.Plural(d.Gallery, "image", "images"))
	}
	t, left := summary.EvalTable(title, value, record.Evaluated(d.Evaluated), common, all)
	if d.Options.Intervals == record.ByClass && d.Options.Bootstrap > 0 {
		t.Notes = append(t.Notes, "intervals of retrieval scores: 95 %, bootstrap over classes")
	}
	addPairs(t, d)
	addMetric(t, d)
	addGap(t, d)
	base.LabelSource(t, d.Source)
	labelSelection(t, d)
	if left > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more scores: --all-scores, or --json with the definition of each", left))
	}
	return t
}

// labelSelection marks scores whose weights test images have chosen, in every format.
func labelSelection(t *render.Table, d *record.Eval) {
	if d.Selection == "" {
		return
	}
	t.Title += ", " + d.Selection
	for i := range t.Rows {
		if i == len(t.RowNotes) {
			t.RowNotes = append(t.RowNotes, d.Selection)
		} else {
			t.RowNotes[i] += ", " + d.Selection
		}
	}
}

// addPairs adds the scores of pairs, which the baselines have not.
func addPairs(t *render.Table, d *record.Eval) {
	if d.PairCounts == nil {
		return
	}
	for _, sc := range d.Pairs {
		row := []render.Cell{render.Text("pairs." + sc.Key), summary.Measured(sc.Value)}
		for len(row) < len(t.Columns) {
			row = append(row, render.Missing())
		}
		t.Rows = append(t.Rows, row)
	}
	c := d.PairCounts
	note := fmt.Sprintf("pairs: %d same, %d different", c.Same, c.Different)
	if at := c.At; at != nil {
		from := "the loss's threshold"
		if at.From == "option" {
			from = "the threshold"
		}
		note += fmt.Sprintf("; %d within %s %.4g, of them %d different", at.Accepted, from, at.Threshold, at.Wrong)
	}
	note += fmt.Sprintf("; equal errors at %.4g", c.EERThreshold)
	if e := d.Distances; e != nil {
		note += fmt.Sprintf("; mean distance %.4g within classes, %.4g between", e.Same.Mean, e.Different.Mean)
	}
	t.Notes = append(t.Notes, note)
	t.Notes = append(t.Notes, summary.PairPointNotes(d)...)
}
