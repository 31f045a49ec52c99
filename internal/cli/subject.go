package cli

import (
	"github.com/spf13/cobra"

	"tercet/internal/experiment"
)

// subject is what eval, attack and cluster work on: a run, or an npy file of
// embeddings.
type subject struct {
	run        string
	checkpoint string
	set        string
	embeddings string
	labels     string
	limit      int
}

func (o *subject) addRun(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&o.run, "run", "r", "", "run `DIRECTORY` (what tercet train made)")
	fs.StringVar(&o.checkpoint, "checkpoint", "last", "last or best")
	fs.StringVar(&o.set, "set-name", "test", "which images: test, validation or train")
}

func (o *subject) addFiles(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.embeddings, "embeddings", "", "npy `FILE` of embeddings (N, D) from any tool")
	fs.StringVar(&o.labels, "labels", "", "npy or csv `FILE` of N labels")
	fs.IntVar(&o.limit, "limit", 0, "at most so many images, evenly spread over the set; 0 takes all")
	cmd.MarkFlagsMutuallyExclusive("run", "embeddings")
	cmd.MarkFlagsMutuallyExclusive("run", "labels")
}

// check refuses a command line that names no subject.
func (o *subject) check() error {
	if o.run == "" && o.embeddings == "" {
		return usagef("name what to work on: --run DIRECTORY, or --embeddings FILE.npy")
	}
	if o.run == "" && (o.limit > 0 || o.set != "test" || o.checkpoint != "last") {
		return usagef("--limit, --set-name and --checkpoint go with --run")
	}
	switch o.checkpoint {
	case "last", "best":
	default:
		return usagef("--checkpoint is %q; give last or best", o.checkpoint)
	}
	switch o.set {
	case "test", "validation", "train":
	default:
		return usagef("--set-name is %q; give test, validation or train", o.set)
	}
	return atLeast(flagCount{"limit", o.limit, 0})
}

// flagCount is a flag that counts something.
type flagCount struct {
	flag         string
	value, least int
}

// atLeast refuses the first count that is too small.
func atLeast(list ...flagCount) error {
	for _, c := range list {
		if c.value < c.least {
			return usagef("--%s is %d; give at least %d", c.flag, c.value, c.least)
		}
	}
	return nil
}

// open opens the run. It takes no lock: what these commands write is replaced
// whole, and a run can be judged while it is trained.
func (o *subject) open() (*experiment.Run, error) {
	r, err := experiment.Open(o.run)
	if err != nil {
		return nil, runError(err)
	}
	return r, nil
}

// stages shows one progress display after another, as a job's stages change.
type stages struct {
	s    *Streams
	name string
	bar  *Progress
	done int
}

func (v *stages) say(stage string, done, total int) {
	if v.bar == nil || stage != v.name {
		v.close()
		v.name, v.done = stage, 0
		v.bar = v.s.Progress(stage, int64(total))
	}
	if done > v.done {
		v.bar.Add(int64(done - v.done))
		v.done = done
	}
}

func (v *stages) close() {
	if v.bar != nil {
		v.bar.Done()
		v.bar = nil
	}
}
