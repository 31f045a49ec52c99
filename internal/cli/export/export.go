package export

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/engine/nn"
	"tercet/internal/export"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/text"
)

type options struct {
	base.Subject
	out   string
	force bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "export",
		Short: "Export a run's network (PyTorch, ONNX), embeddings or logs",
		Long: `
Exports the network and weights of a run, its embeddings, or the logs and results of runs
for TensorBoard, MLflow and spreadsheets. A new run can start from weights of export
torch: set model.weights.`,
		Examples: []base.Example{
			{Why: "a folder with weights and model code for PyTorch", Line: "tercet export torch runs/first --out exported"},
			{Why: "one file for ONNX runtimes", Line: "tercet export onnx runs/first --out model.onnx"},
			{Why: "log, results and pictures for TensorBoard", Line: "tercet export tensorboard runs/first --out boards"},
			{Why: "embeddings for faiss", Line: "tercet export embeddings runs/first --out X.fvecs"},
		},
		Subs: []*cobra.Command{newTorch(s), newONNX(s), newEmbeddings(s), newTensorBoard(s), newMLflow(s), newCSV(s)},
	}.Build()
}

func newTorch(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "torch RUN --out DIR",
		Short: "Write weights under PyTorch's names, and the code of the network",
		Long: `
Writes into DIR:

  weights.safetensors  the weights under PyTorch's names, in its order of axes
  weights.pth          the same, for torch.load
  model.py             the network in PyTorch; load() reads weights.pth
  preprocess.json      the preprocessing from image file to network input

A ResNet of standard width on color images has torchvision's architecture: its weights
load with strict=True in torchvision.models, with num_classes set to the dimension of the
embedding. Normalization to length 1 is part of model.py, not of the weights.`,
		Examples: []base.Example{
			{Why: "the last checkpoint", Line: "tercet export torch runs/first --out exported"},
			{Why: "the best one", Line: "tercet export torch runs/first --out exported --checkpoint best"},
		},
		Args:  cobra.ExactArgs(1),
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) { o.addFlags(cmd, "write into the folder `DIR`, which is created if needed") },
		Run: func(_ context.Context, args []string) error {
			return o.write(s, args[0], "torch", export.TorchFiles(o.out), func(r *run.Run, m *nn.Model, a export.About) ([]printed.ExportedFile, error) {
				return export.Torch(o.out, m, r.Config, a)
			})
		},
	}.Build()
}

func newONNX(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "onnx RUN --out FILE",
		Short: "Write an ONNX file",
		Long: `
Writes an ONNX model (opset 13): the input "images" is float32 (N, C, H, W) in [0, 1],
the output "embeddings" is (N, D).`,
		Examples: []base.Example{
			{Why: "the last checkpoint", Line: "tercet export onnx runs/first --out model.onnx"},
		},
		Args:  cobra.ExactArgs(1),
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) { o.addFlags(cmd, "write to `FILE`") },
		Run: func(_ context.Context, args []string) error {
			return o.write(s, args[0], "onnx", []string{o.out}, func(_ *run.Run, m *nn.Model, a export.About) ([]printed.ExportedFile, error) {
				return export.ONNXFile(o.out, m, a)
			})
		},
	}.Build()
}

func (o *options) addFlags(cmd *cobra.Command, out string) {
	cmd.Flags().StringVarP(&o.out, "out", "o", "", out)
	o.AddCheckpoint(cmd)
	cmd.Flags().BoolVar(&o.force, "force", false, "replace existing files")
}

// write exports the network of the run in dir.
func (o *options) write(s *base.Streams, dir, format string, files []string, to func(*run.Run, *nn.Model, export.About) ([]printed.ExportedFile, error)) error {
	if o.out == "" {
		return base.Usagef("say where to write: --out")
	}
	if err := base.CheckSplit("test", o.Checkpoint); err != nil {
		return err
	}
	for _, f := range files {
		if err := base.Writable(f); err != nil {
			return err
		}
	}
	if there := export.Existing(files); len(there) > 0 && !o.force {
		return base.Usagef("%s would be replaced; --force replaces, --out writes elsewhere", text.List(there, "and"))
	}
	o.Run = dir
	r, err := o.OpenNoted(s)
	if err != nil {
		return err
	}
	defer r.Close()
	c, err := r.Checkpoint(o.Checkpoint)
	if err != nil {
		return base.RunError(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		return base.RunError(err)
	}
	doc := printed.ExportedModel{Schema: record.ExportSchema, Run: dir, Checkpoint: o.Checkpoint, Step: c.State.Step, Format: format,
		Model: record.Model{Name: c.Spec.Name, Embedding: m.Dim(), Parameters: m.ParamCount()}}
	if doc.Files, err = to(r, m, about(r, o.Checkpoint, c.State.Step)); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error { return table(&doc).Write(w, "text") })
}

// about is the description of a run's checkpoint in exported files.
func about(r *run.Run, checkpoint string, step int) export.About {
	return export.About{Run: r.Config.Name, Checkpoint: checkpoint, Step: step, Version: run.Version}
}

func table(d *printed.ExportedModel) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: model %s, checkpoint %s (step %d)", d.Run, d.Model.Name, d.Checkpoint, d.Step),
		Columns: []render.Column{{Name: "file"}, {Name: "holds"}, {Name: "bytes"}},
	}
	for _, f := range d.Files {
		t.Rows = append(t.Rows, []render.Cell{render.Text(f.File), render.Text(f.Holds), render.Int(int(f.Bytes))})
	}
	return t
}
