package rundir

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/record"
)

// ErrRun is wrapped when a path holds no run, or one whose files cannot be used.
var ErrRun = errors.New("no usable run")

// Label is one key of a run's config with its value.
type Label struct{ Key, Value string }

// Run is what a run directory's public files say.
type Run struct {
	Dir      string
	Of       Of // of what the results are
	Manifest record.Manifest
	Eval     *record.Eval // nil where the file does not exist; so the others
	Attack   *record.Attack
	Cluster  *record.Cluster
	Worst    *record.Worst
	Certify  *record.Certify
	// Clusterings are those in folders of their own; ReadClusterings fills them.
	Clusterings []Clustering
	clusterFile string   // of Cluster where it is one of Clusterings
	scoresOnly  bool     // documents are read as summaries
	Figures     []Figure // those that exist
	// Left says which documents are not read, since they are of other images or weights.
	Left []string
	// Labels are the config's keys in their order; the caller sets them.
	Labels []Label
}

// Read reads a run directory with the results of the test images and the last
// checkpoint. manifest.json must be there; results may be missing. An error wraps ErrRun
// and names the file.
func Read(dir string) (*Run, error) { return ReadOf(dir, Of{}) }

// ReadOf is Read for the results of other images or weights.
func ReadOf(dir string, of Of) (*Run, error) {
	path := filepath.Join(dir, "manifest.json")
	m, err := read[record.Manifest](path)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("%w: %s not found; if training was killed at its start, the same tercet train command resumes", ErrRun, path)
	}
	return readKinds(&Run{Dir: dir, Of: of.Full(), Manifest: *m}, Kinds())
}

// ReadScores is Read of a run whose manifest is read already, without the values of each
// query and without baselines, and where kinds are given for the results of these kinds
// alone.
func ReadScores(dir string, m *record.Manifest, kinds ...string) (*Run, error) {
	if kinds == nil {
		kinds = Kinds()
	}
	return readKinds(&Run{Dir: dir, Of: Of{}.Full(), Manifest: *m, scoresOnly: true}, kinds)
}

// readKinds reads results of some kinds into r, which has its manifest.
func readKinds(r *Run, kinds []string) (*Run, error) {
	for _, k := range allKinds {
		if slices.Contains(kinds, k.name) {
			if err := k.read(r); err != nil {
				return nil, err
			}
		}
	}
	if r.Eval != nil && len(r.Eval.Retrieval) == 0 {
		return nil, fmt.Errorf("%w: %s has no scores under \"retrieval\"", ErrRun, r.Of.Document(r.Dir, "eval"))
	}
	r.findFigures()
	return r, nil
}

// result is a document that says what it was computed from.
type result interface {
	record.Document
	From() record.Source
}

// readResult reads a document of what r is read of; nil where there is none. One that
// should be of that and is not is noted in r.Left.
func readResult[D result](r *Run, kind string) (*D, error) {
	read := read[D]
	if r.scoresOnly || kind == "cluster" { // labels of items are of no use here
		read = func(path string) (*D, error) { return ifThere(record.ReadSummary[D](path)) }
	}
	for i, path := range r.Of.places(r.Dir, kind) {
		d, err := read(path)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		of := SourceOf((*d).From())
		why := r.foreign((*d).From())
		if of == r.Of && why == "" {
			return d, nil
		}
		if of == r.Of {
			r.Left = append(r.Left, fmt.Sprintf("%s %s: left out", path, why))
			continue
		}
		if i == 0 {
			r.Left = append(r.Left, fmt.Sprintf("%s is of the %s, not of the %s: left out", path, of.Words(), r.Of.Words()))
		}
	}
	return nil, nil
}

// Name is the directory's own name, also of ".".
func (r *Run) Name() string {
	if abs, err := filepath.Abs(r.Dir); err == nil {
		return filepath.Base(abs)
	}
	return r.Dir
}

// Status is the manifest's, a collapse marked as tables of papers mark it.
func (r *Run) Status() string {
	switch r.Manifest.Status {
	case "collapsed":
		return "*collapse*"
	case "":
		return "unknown"
	}
	return string(r.Manifest.Status)
}

func (r *Run) Label(key string) (string, bool) {
	for _, l := range r.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// Lost says that a run has no result: it collapsed or diverged.
func (r *Run) Lost() bool {
	return r.Manifest.Status == "collapsed" || r.Manifest.Status == "diverged"
}

// Finished says that a run's training came to its end.
func (r *Run) Finished() bool { return r.Manifest.Status == "finished" }

// Value is the run's value of a config key, as its resolved text has it. Files with
// estimated noise, one for each run of a setting, all have the value found.
func (r *Run) Value(key string) (string, bool) {
	v, ok := r.Label(key)
	return Label{key, v}.Setting(), ok
}

// Setting is the value as far as runs of one setting share it: each has a file of its
// own for the noise that it was told.
func (l Label) Setting() string {
	if l.Key == "loss.noise_from" && strings.Trim(l.Value, `"`) != "" {
		return "found"
	}
	return l.Value
}

// CommonName is the name of runs that differ in the seed alone: the sweep's part
// about the seed is left out.
func CommonName(runs []*Run) string {
	name := runs[0].Name()
	if len(runs) == 1 {
		return name
	}
	without := func(r *Run) string {
		part := regexp.MustCompile(fmt.Sprintf(`[-_]seed-%d(_|$)`, r.Manifest.Seed))
		n := r.Name()
		at := part.FindStringSubmatchIndex(n)
		if at == nil {
			return n
		}
		if at[1] < len(n) { // keep the mark before the next part
			return n[:at[0]+1] + n[at[1]:]
		}
		return n[:at[0]]
	}
	same := true
	for _, r := range runs {
		same = same && without(r) == without(runs[0])
	}
	if same {
		return without(runs[0])
	}
	for _, r := range runs[1:] {
		for !strings.HasPrefix(r.Name(), name) {
			name = name[:len(name)-1]
		}
	}
	if name == "" {
		return fmt.Sprintf("%s and %d more", runs[0].Name(), len(runs)-1)
	}
	return name + "*"
}
