package rundir

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
)

// Of says which results of runs are read: of which images and weights. The zero Of is
// the test images and the last checkpoint.
type Of struct{ Split, Checkpoint string }

// Full is o with its defaults filled in, which documents of old versions leave out, too.
func (o Of) Full() Of {
	if o.Split == "" {
		o.Split = names.Test
	}
	if o.Checkpoint == "" {
		o.Checkpoint = names.Last
	}
	return o
}

// standard says that results are those that tables have without being asked.
func (o Of) Standard() bool { return o.Full() == Of{names.Test, names.Last} }

// flags ask a command for such results; "" where they need none.
func (o Of) flags() string {
	o, out := o.Full(), ""
	if o.Split != names.Test {
		out += " " + option.Name("split") + " " + o.Split
	}
	if o.Checkpoint != names.Last {
		out += " " + option.Name("checkpoint") + " " + o.Checkpoint
	}
	return out
}

// words name the images and weights.
func (o Of) Words() string {
	o = o.Full()
	return fmt.Sprintf("%s images, checkpoint %s", o.Split, o.Checkpoint)
}

// SourceOf says of which images and weights a document is.
func SourceOf(s record.Source) Of { return Of{s.Set, s.Checkpoint}.Full() }

// Document is where the run keeps a kind of document of o: in a folder where that has
// many files.
func (o Of) Document(dir, kind string) string {
	name := names.Result(kind, o.Split, o.Checkpoint)
	if kind == "cluster" && name != kind {
		return filepath.Join(dir, name, kind+".json")
	}
	return filepath.Join(dir, name+".json")
}

// places are the files that may hold the document. Older versions kept all in one,
// whatever it was of.
func (o Of) places(dir, kind string) []string {
	own, old := o.Document(dir, kind), filepath.Join(dir, kind+".json")
	if own == old {
		return []string{own}
	}
	return []string{own, old}
}

// pictureFolders are those of the run's pictures of o.
func (o Of) pictureFolders(dir string) []string {
	out := []string{filepath.Join(dir, names.Result("figures", o.Split, o.Checkpoint))}
	if !o.Standard() {
		out = append(out, filepath.Join(filepath.Dir(o.Document(dir, "cluster")), "figures"))
	}
	return out
}

// otherClusters says whether a folder is that of the clustering of other images or weights
// than the test images and the last checkpoint.
func otherClusters(folder string) bool {
	for _, split := range []string{"test", "validation", "train"} {
		for _, checkpoint := range []string{"last", "best", "previous"} {
			if o := (Of{split, checkpoint}); !o.Standard() && folder == names.Result("cluster", split, checkpoint) {
				return true
			}
		}
		rest, ok := strings.CutPrefix(folder, names.Result("cluster", split, "")+"-")
		if _, kept := names.KeptStep(rest); ok && kept {
			return true
		}
	}
	return false
}

// Other says of which images and weights a document is, in words; "" where it is of the test
// images and the last checkpoint.
func Other(s record.Source) string {
	if of := SourceOf(s); !of.Standard() {
		return of.Words()
	}
	return ""
}
