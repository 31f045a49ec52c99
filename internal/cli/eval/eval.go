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
			base.Words(fs, &o.distance, "distance", metric.Euclidean, []string{metric.Euclidean, metric.Cosine}, "euclidean or cosine")
			fs.BoolVar(&o.pairs, "pairs", false, "score all pairs of items as same or different also where there is no threshold (AUC, EER)")
			fs.Float64Var(&o.threshold, "threshold", 0, "Euclidean `DISTANCE` up to which a pair counts as same (of a run: by default its loss's, if that fixes one)")
			fs.IntVar(&o.kmeans, "clusters", 0, "clusters of k-means; 0 takes the number of classes (of a run: by default its config's)")
			fs.IntVar(&o.nInit, "n-init", 10, "starts of k-means; the best counts (default for a run: as in its config)")
			fs.BoolVar(&o.noKMeans, "no-kmeans", false, "leave out the clustering scores")
			fs.BoolVar(&o.noBaselines, "no-baselines", false, "leave out raw pixels and the untrained network")
			fs.IntVar(&o.bootstrap, "bootstrap", 1000, "resamples for the 95 % intervals, at least 100; 0 gives none (of a run: by default its config's)")
			base.Words(fs, &o.intervals, "intervals", "queries", []string{"queries", record.ByClass}, "what the intervals resample: queries, or classes, which gives wider ones as queries of one class are alike")
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
			fs.BoolVar(&o.ifNeeded, "if-needed", false, "show the run's result as it is where it has what is asked for, of these weights and images")
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
		return base.Usagef("--device is about the network of a run: embeddings of a file are there already; leave it out")
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
	s.Warn(e.Doc.Warnings...)
	if err := s.Result(e.Doc, func(w io.Writer) error {
		return EvalTable(e.Doc, o.allScores || o.Format == "csv" || o.Format == "json").Write(w, o.Format)
	}); err != nil {
		return err
	}
	return base.CheckGates(gates, e.Doc.Retrieval, e.Doc.Clustering, e.Doc.Pairs)
}
