package eval

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/record"
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
Scores the embeddings of a run's test images, or those in any npy file. Retrieval:
recall@k, mAP, MAP@R, R-precision and MRR, never counting the query itself. Clustering:
k-means, scored by NMI, AMI, ARI, accuracy, purity and more. The output states the
definition of each score. With a distance threshold, from the loss or from --threshold,
all pairs are also classified as same or different: accuracy, precision, recall, F1, AUC
and EER. A run is compared with two baselines: raw pixels, and its network before
training.

Writes eval.json and pictures into the run's directory, for the test images and the
last checkpoint. With --split and --checkpoint the file is eval-validation.json,
eval-best.json, eval-train-best.json and so on. With --out it is FILE, without pictures.
tercet report reads eval.json by default.

An existing result is replaced only in three cases: the new result covers it (its scores,
images and settings), the run has been trained further since, or --force is given. The
same holds for FILE of --out, which must not be a folder or a file of the run itself.
Missing folders are created. A result of --embeddings is written only with --out.

Embeddings above 1 GiB are read from their files block by block, unless k-means or pair
scores are requested. Any flag for large galleries has the same effect. With --out the
same command resumes after an interruption, from FILE.partial. --task divides the gallery
among machines, which write their counts to FILE.part-i-of-n; --merge combines them. The
result is bit-identical for any number of tasks.

--save-embeddings X.npy exports the embeddings instead of scoring them: X.npy,
X.labels.npy and X.items.csv, with the item, file, label and class of each row. Each
split numbers its labels from 0. If splits have different classes, join their exports
by the class names in the csv. Files of another export are replaced only with --force.`,
		Examples: []base.Example{
			{Why: "evaluate a run", Line: "tercet eval --run runs/first"},
			{Why: "evaluate its training images; writes eval-train.json", Line: "tercet eval --run runs/first --split train --no-kmeans"},
			{Why: "export the embeddings of the test images", Line: "tercet eval --run runs/first --save-embeddings X.npy"},
			{Why: "evaluate embeddings from another tool", Line: "tercet eval --embeddings X.npy --labels Y.npy --k 1,10"},
			{Why: "a third of a large gallery, on one of three machines", Line: "tercet eval --embeddings X.npy --labels Y.npy --no-kmeans --out eval.json --task 1/3"},
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
			fs.IntSliceVar(&o.ks, "k", []int{1, 2, 4, 8}, "the k of recall@k (default for a run: as in its config)")
			base.Words(fs, &o.distance, "distance", metric.Euclidean, []string{metric.Euclidean, metric.Cosine}, "euclidean or cosine")
			fs.BoolVar(&o.pairs, "pairs", false, "also score all pairs of items as same or different when there is no threshold (AUC, EER)")
			fs.Float64Var(&o.threshold, "threshold", 0, "Euclidean `DISTANCE` up to which a pair counts as same (default for a run: that of its loss, if it fixes one)")
			fs.IntVar(&o.kmeans, "clusters", 0, "number of k-means clusters; 0: the number of classes (default for a run: as in its config)")
			fs.IntVar(&o.nInit, "n-init", 10, "number of k-means starts; the best is kept (default for a run: as in its config)")
			fs.BoolVar(&o.noKMeans, "no-kmeans", false, "leave out the clustering scores")
			fs.BoolVar(&o.noBaselines, "no-baselines", false, "leave out the baselines: raw pixels and the untrained network")
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "bootstrap resamples for the 95 % intervals, at least 100; 0: no intervals (default for a run: as in its config)")
			base.Words(fs, &o.intervals, "intervals", "queries", []string{"queries", record.ByClass}, "what the intervals resample: queries, or classes; classes give wider intervals, because queries of one class are correlated")
			fs.Float64SliceVar(&o.fmr, "fmr", nil, "false match rates at which to score pairs, such as 0.001,0.0001: fnmr@fmr and tar@far, with their thresholds")
			fs.Uint64Var(&o.seed, "seed", 0, "seed of k-means and of the intervals (default for a run: as in its config)")
			base.Group(fs, "Scores")
			o.AddOutcome(cmd, "r@1=0.9")
			fs.BoolVar(&o.allScores, "all-scores", false, "print every score; by default text and markdown tables leave out variants, csv and json do not")
			fs.BoolVar(&o.perQuery, "per-query", false, "store the retrieval scores of each query in the result, to compare runs query by query")
			fs.BoolVar(&o.perClass, "per-class", false, "store the retrieval scores of each class in the result")
			fs.StringVar(&o.classes, "class-scores", "", "write the retrieval scores of each class to `FILE`, .csv or .json")
			fs.StringVar(&o.save, "save-embeddings", "", "export the embeddings to `FILE`, such as X.npy, with X.labels.npy and X.items.csv, instead of scoring them")
			fs.StringVarP(&o.out, "out", "o", "", "write the result to `FILE` instead of the run's directory; without it, results of --embeddings are not written")
			fs.BoolVar(&o.force, "force", false, "replace an existing result even if it has more scores or other settings")
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "show the existing result if it covers the request and is of these weights and images")
			base.Group(fs, "Output")
			base.Exclusive(cmd, "if-needed", "force", "class-scores")
			base.Least(fs, 0, "clusters")
			base.Least(fs, 1, "n-init")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, _ []string) error { return runEval(ctx, s, o) },
	}.Build()
}

func runEval(ctx context.Context, s *base.Streams, o options) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Run == "" && o.device != "" {
		return base.Usagef("--device applies to the network of a run, and embeddings of a file are computed already; leave it out")
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
		return base.Usagef("--if-needed is for the result of a run, --force for replacing a result: with --embeddings give --out and leave out --if-needed")
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
	s.Warn(e.Doc.Warnings...)
	if err := s.Result(e.Doc, func(w io.Writer) error {
		return EvalTable(e.Doc, o.allScores || o.Format == "csv" || o.Format == "json").Write(w, o.Format)
	}); err != nil {
		return err
	}
	return base.CheckGates(gates, e.Doc.Retrieval, e.Doc.Clustering, e.Doc.Pairs)
}
