package base

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/data/npy"
	"tercet/internal/metric"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Subject is what eval, attack and cluster work on: a run, or an npy file of
// embeddings.
type Subject struct {
	Run        string
	Checkpoint string
	Set        string
	Embeddings string
	Labels     string
	Column     string // of a csv file of labels
	Limit      int
}

// AddRunAlone adds the flag that names a run.
func (o *Subject) AddRunAlone(cmd *cobra.Command) {
	cmd.Flags().VarP((*oneRun)(&o.Run), "run", "r", "run `DIRECTORY`, written by tercet train")
}

// AddCheckpoint adds the flag that chooses a run's weights.
func (o *Subject) AddCheckpoint(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Checkpoint, "checkpoint", "last", "last, best, or step-N for one kept by train.keep_every")
}

// AddWeights adds the flags that choose a run and its weights.
func (o *Subject) AddWeights(cmd *cobra.Command) {
	o.AddRunAlone(cmd)
	o.AddCheckpoint(cmd)
}

// AddRun adds the flags that choose a run, its images and weights.
func (o *Subject) AddRun(cmd *cobra.Command) {
	o.AddWeights(cmd)
	AddSplit(cmd.Flags(), &o.Set, "test", "which images: test, validation or train")
}

// oneRun is the value of a flag that names one run. A second one is an error: the first
// would be left out without a word.
type oneRun string

func (r *oneRun) String() string { return string(*r) }
func (r *oneRun) Type() string   { return "string" }

func (r *oneRun) Set(dir string) error {
	if *r != "" && string(*r) != dir {
		return fmt.Errorf("%s is given already; give one run, and repeat the command for each other", *r)
	}
	*r = oneRun(dir)
	return nil
}

// AddSplit declares --split, which older versions called --set-name.
func AddSplit(fs *pflag.FlagSet, to *string, standard, usage string) {
	fs.StringVar(to, "split", standard, usage)
	OldNames(fs, "set-name", "split")
}

// AddFiles adds the flags that choose embeddings of other tools.
func (o *Subject) AddFiles(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.Embeddings, "embeddings", "", "`FILE` of embeddings (N, D) from any tool (npy, fbin, u8bin, i8bin, fvecs, bvecs), or a folder that tercet embed wrote")
	fs.StringVar(&o.Labels, "labels", "", "npy or csv `FILE` of N labels")
	fs.StringVar(&o.Column, "label-column", "", LabelColumnUsage)
	o.AddLimit(cmd)
	Exclusive(cmd, "run", "embeddings", "labels", "label-column")
}

// AddLimit adds the flag that takes fewer images.
func (o *Subject) AddLimit(cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.Limit, "limit", 0, "use at most this many images, spread evenly over the set; 0 uses all")
	Least(cmd.Flags(), 0, "limit")
}

// LabelColumnUsage is the help of --label-column.
const LabelColumnUsage = "`NAME` of the label column in a csv file (default: label, or the only column)"

// LabelFile is the file of labels that the flags name.
func (o *Subject) LabelFile() npy.LabelFile { return npy.LabelFile{Path: o.Labels, Column: o.Column} }

// LabelsError names the flag that an error about the column of labels asks for.
func LabelsError(err error) error {
	if errors.Is(err, npy.ErrColumn) {
		err = fmt.Errorf("%w: --label-column NAME", err)
	}
	return err
}

// Check refuses a command line that names no subject.
func (o *Subject) Check() error {
	if o.Run == "" && o.Embeddings == "" {
		return Usagef("name what to work on: --run DIRECTORY, or --embeddings FILE.npy")
	}
	if o.Run == "" && (o.Limit > 0 || o.Set != "test" || o.Checkpoint != "last") {
		return Usagef("--limit, --split and --checkpoint need --run")
	}
	return CheckSplit(o.Set, o.Checkpoint)
}

// CheckRun refuses a command line of a command on runs alone that names none.
func (o *Subject) CheckRun() error {
	if o.Run == "" {
		return Usagef("name what to work on: give --run DIRECTORY")
	}
	return CheckSplit(o.Set, o.Checkpoint)
}

// CheckSplit refuses images and weights that there are not.
func CheckSplit(split, checkpoint string) error {
	if !run.KnownCheckpoint(checkpoint) {
		return Usagef("--checkpoint is %q; give last, best or step-N of a step that the run keeps", checkpoint)
	}
	switch split {
	case "test", "validation", "train":
	default:
		return Usagef("--split is %q; give test, validation or train", split)
	}
	return nil
}

// Open opens the run. Others may work on it: what these commands write is replaced
// whole, and a run can be evaluated while it is trained. It is not removed meanwhile.
func (o *Subject) Open() (*run.Run, error) {
	r, err := run.Open(o.Run)
	if err != nil {
		return nil, RunError(err)
	}
	r.Use()
	return r, nil
}

// OpenNoted is Open, and NoteUnfinished of the run.
func (o *Subject) OpenNoted(s *Streams) (*run.Run, error) {
	r, err := o.Open()
	if err != nil {
		return nil, err
	}
	if err := o.NoteUnfinished(s, r); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// NoteUnfinished says that a run's weights are not those of its end.
func (o *Subject) NoteUnfinished(s *Streams, r *run.Run) error {
	m := r.Manifest
	if m.Status == record.Finished {
		o.notePastBest(s, r)
		return nil
	}
	step, err := r.Step(o.Checkpoint)
	if err != nil {
		return RunError(err)
	}
	s.Note("warning: %s is unfinished (%s): checkpoint %s was saved at step %d of %d", r.Dir, m.Status, o.Checkpoint, step, m.Of)
	return nil
}

// notePastBest says of the last checkpoint after an early stop that there is a better one.
func (o *Subject) notePastBest(s *Streams, r *run.Run) {
	m := r.Manifest
	if o.Checkpoint != names.Last || m.Stopped == nil || m.Best == nil || m.Best.Step >= m.Stopped.Step {
		return
	}
	s.Note("%s stopped early at step %d: checkpoint last was saved there, the best one at step %d; --checkpoint best uses it", r.Dir, m.Stopped.Step, m.Best.Step)
}

// CheckResamples refuses numbers of resamples that no interval can be told from.
func CheckResamples(n int) error {
	switch {
	case n > metric.MaxResamples:
		return Usagef("--bootstrap is %d; give at most %d", n, metric.MaxResamples)
	case n < 0:
		return Usagef("--bootstrap is %d; give at least 0", n)
	case n > 0 && n < metric.MinResamples:
		return Usagef("--bootstrap is %d: too few for 95 %% intervals; give at least %d, or 0 for none", n, metric.MinResamples)
	}
	return nil
}

// Stages shows one progress display after another, as a job's stages change.
type Stages struct {
	Streams *Streams
	Name    string
	Bar     *Progress
	Done    int
}

// Say draws how far a stage has come.
func (v *Stages) Say(stage string, done, total int) {
	if v.Bar == nil || stage != v.Name {
		v.Close()
		v.Name, v.Done = stage, 0
		v.Bar = v.Streams.Progress(stage, int64(total))
	}
	if done > v.Done {
		v.Bar.Add(int64(done - v.Done))
		v.Done = done
	}
}

// Close takes the bar away.
func (v *Stages) Close() {
	if v.Bar != nil {
		v.Bar.Done()
		v.Bar = nil
	}
}
