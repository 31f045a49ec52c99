package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/embed"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
	"tercet/internal/tracker"
)

// trackers are the options of exports of logs and results.
type trackers struct {
	out, experiment string
	points          int
	folder          bool // out is one
}

func newTensorBoard(s *base.Streams) *cobra.Command {
	o := trackers{folder: true}
	return base.Command{
		Use:   "tensorboard RUN... --out DIR",
		Short: "Write logs, results and pictures for TensorBoard",
		Long: `
Writes one folder per run into DIR, for tensorboard --logdir DIR: logged values and
results by step, pictures, hyperparameters, and, if pairs were scored, histograms of
distances, computed from the quantiles in eval.json. Runs that differ only in their seeds
form a group.

--points N also embeds up to N test images for the projector, with their pictures.

The same runs give the same bytes. Files of an earlier export of the same runs are
replaced. wandb, aim, SwanLab and ClearML can read these folders, too.`,
		Examples: []base.Example{
			{Why: "a run", Line: "tercet export tensorboard runs/first --out boards"},
			{Why: "all runs, with 100 embeddings of each", Line: "tercet export tensorboard runs/first --out boards --points 100"},
		},
		Args:  cobra.MinimumNArgs(1),
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVarP(&o.out, "out", "o", "", "write into the folder `DIR`, which is created if needed")
			cmd.Flags().IntVar(&o.points, "points", 0, "number of test images per run to embed for the projector")
			base.Least(cmd.Flags(), 0, "points")
		},
		Run: func(ctx context.Context, args []string) error { return o.tensorBoard(ctx, s, args) },
	}.Build()
}

func newMLflow(s *base.Streams) *cobra.Command {
	o := trackers{folder: true}
	return base.Command{
		Use:   "mlflow RUN... --out DIR",
		Short: "Write logs, results and pictures for MLflow",
		Long: `
Writes the runs as an experiment into the folder DIR in the layout of MLflow's file store:
mlflow ui --backend-store-uri DIR shows them. Nothing is sent over the network. Exporting
the same runs again gives the same bytes and no duplicates. MLflow does not allow @ in
names, so recall@1 becomes recall_at_1.`,
		Examples: []base.Example{
			{Why: "a run", Line: "tercet export mlflow runs/first --out mlruns"},
		},
		Args:  cobra.MinimumNArgs(1),
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVarP(&o.out, "out", "o", "", "write into the folder `DIR`, which is created if needed")
			cmd.Flags().StringVar(&o.experiment, "experiment", "tercet", "`NAME` of the experiment")
		},
		Run: func(_ context.Context, args []string) error {
			if o.experiment == "" {
				return base.Usagef("--experiment is empty; give a name")
			}
			runs, err := o.read(s, args)
			if err != nil {
				return err
			}
			folders, err := tracker.MLflow(o.out, o.experiment, runs)
			if err != nil {
				return report.RunsError(err)
			}
			return o.written(s, "mlflow", runs, folders)
		},
	}.Build()
}

func newCSV(s *base.Streams) *cobra.Command {
	var o trackers
	return base.Command{
		Use:   "csv RUN...",
		Short: "Write logged values and results as one table",
		Long: `
Writes one line per logged value of each run: run, tag (such as train/loss, test/recall@1
or result/map@r), step, epoch, seconds of training, value. pandas and R read it directly.`,
		Examples: []base.Example{
			{Why: "a run", Line: "tercet export csv runs/first --out curves.csv"},
		},
		Args:  cobra.MinimumNArgs(1),
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVarP(&o.out, "out", "o", "", "write to `FILE`, also over an earlier table; default: stdout")
		},
		Run: func(_ context.Context, args []string) error { return o.csv(s, args) },
	}.Build()
}

// read reads the runs, which must not be in the folder that is written.
func (o *trackers) read(s *base.Streams, args []string) ([]*rundir.Run, error) {
	switch {
	case o.out == "":
		return nil, base.Usagef("say where to write: --out DIR")
	case base.HoldsRun(o.out):
		return nil, base.Usagef("--out %s is a run; give another folder", o.out)
	}
	if info, err := os.Stat(o.out); o.folder && err == nil && !info.IsDir() {
		return nil, base.Usagef("--out %s is a file; give a folder, which need not exist yet", o.out)
	}
	runs, err := report.ReadRuns(s, args, rundir.Of{})
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if filepath.Dir(filepath.Clean(r.Dir)) == filepath.Clean(o.out) {
			return nil, base.Usagef("--out %s is the folder of %s; give another folder", o.out, filepath.Base(r.Dir))
		}
		s.Warn(r.Left...)
	}
	return runs, nil
}

func (o *trackers) tensorBoard(ctx context.Context, s *base.Streams, args []string) error {
	if o.points > tracker.MostPoints {
		return base.Usagef("--points is %d; give at most %d: TensorBoard shows a sprite of 8192 x 8192 pixels", o.points, tracker.MostPoints)
	}
	runs, err := o.read(s, args)
	if err != nil {
		return err
	}
	files, err := tracker.TensorBoard(o.out, runs)
	if err != nil {
		return report.RunsError(err)
	}
	if o.points > 0 {
		for i, name := range tracker.Names(runs) {
			e, err := o.embed(ctx, s, runs[i])
			if err != nil {
				return base.RunError(err)
			}
			more, err := tracker.Projector(filepath.Join(o.out, name), *e)
			if err != nil {
				return err
			}
			files = append(files, more...)
		}
	}
	return o.written(s, "tensorboard", runs, files)
}

// embed embeds test images of a run, and reads their pictures.
func (o *trackers) embed(ctx context.Context, s *base.Streams, of *rundir.Run) (*tracker.Embeddings, error) {
	subject := base.Subject{Run: of.Dir, Checkpoint: "last"}
	r, err := subject.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	view := &base.Stages{Streams: s}
	defer view.Close()
	v, err := r.Embed(ctx, "last", "test", o.points, view.Say)
	if err != nil {
		return nil, err
	}
	e := &tracker.Embeddings{Name: of.Name(), X: v.Vectors.Data, N: v.Vectors.Rows(), D: v.Vectors.Cols()}
	h, w, c := v.Data.Shape()
	pictures := h > 1 && w > 1 && (c == 1 || c == 3)
	for i := range e.N {
		tile, err := embed.Tile(v.Data, i)
		if err != nil {
			return nil, err
		}
		e.Classes = append(e.Classes, tile.Caption)
		if pictures {
			e.Images = append(e.Images, tile.Image)
		}
	}
	return e, nil
}

// replaceable refuses a file that is no table of an earlier export.
func replaceable(path string) error {
	if err := base.Writable(path); err != nil {
		return err
	}
	if err := base.Placeable(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	head := tracker.CSVHead + "\n"
	if begin, err := io.ReadAll(io.LimitReader(f, int64(len(head)))); err != nil || len(begin) > 0 && string(begin) != head {
		return base.Usagef("%s was not written by export csv and is not replaced; give another --out", path)
	}
	return nil
}

func (o *trackers) csv(s *base.Streams, args []string) error {
	to := o.out
	o.out = cmp.Or(to, "-")
	if to != "" {
		if err := replaceable(to); err != nil {
			return err
		}
	}
	runs, err := o.read(s, args)
	if err != nil {
		return err
	}
	if to == "" {
		if s.JSON {
			return base.Usagef("--json needs --out FILE: the table is not a JSON document")
		}
		return report.RunsError(tracker.CSV(s.Out, runs))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := fsx.Write(to, 0o644, func(w io.Writer) error { return tracker.CSV(w, runs) }); err != nil {
		return report.RunsError(err)
	}
	return o.written(s, "csv", runs, []string{to})
}

// written prints what was written.
func (o *trackers) written(s *base.Streams, format string, runs []*rundir.Run, files []string) error {
	doc := printed.ExportedRuns{Schema: record.ExportedRunsSchema, Format: format, Out: o.out, Runs: []string{}, Files: []printed.WrittenFile{}}
	for _, r := range runs {
		doc.Runs = append(doc.Runs, r.Dir)
	}
	for _, f := range files {
		n, err := rundir.Size(f)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, printed.WrittenFile{File: f, Bytes: n})
	}
	return s.Result(doc, func(w io.Writer) error {
		t := &render.Table{Title: fmt.Sprintf("%s: %s", format, text.Count(len(runs), "run")), Columns: []render.Column{{Name: "file"}, {Name: "bytes"}}}
		for _, f := range doc.Files {
			t.Rows = append(t.Rows, []render.Cell{render.Text(f.File), render.Int(int(f.Bytes))})
		}
		return t.Write(w, "text")
	})
}
