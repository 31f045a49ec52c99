package report

import (
	"cmp"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// ErrRun is wrapped when a path holds no run, or one whose files cannot be used.
var ErrRun = errors.New("no usable run")

// Label is one key of a run's config with its value.
type Label struct{ Key, Value string }

// RunDir is what a run directory's public files say.
type RunDir struct {
	Dir      string
	Of       Of // of what the results are
	Manifest record.Manifest
	Eval     *record.Eval // nil where the file does not exist; so the others
	Attack   *record.Attack
	Cluster  *record.Cluster
	// Clusterings are those in folders of their own; ReadClusterings fills them.
	Clusterings []Clustering
	clusterFile string   // of Cluster where it is one of Clusterings
	Figures     []Figure // those that exist
	// Left says which documents are not read, since they are of other images or weights.
	Left []string
	// Labels are the config's keys in their order; the caller sets them.
	Labels []Label
}

// Figure is a picture of a run.
type Figure struct{ Path, Caption string }

// figures are the pictures that commands leave in a run's directory.
var figures = []struct{ file, caption string }{
	{"training.png", "Training: loss, scores during training, tuples and distances against the step"},
	{"retrieval.png", "Queries and their nearest images"},
	{"attack.png", "Clean images, what attacks add, attacked images, and what is retrieved before and after"},
	{"attack-curve.png", "Scores under attack against eps"},
	{"tsne.png", "t-SNE map of the embeddings, by class and by cluster"},
	{"pca.png", "First two principal components of the embeddings"},
	{"clusters.png", "Images of the clusters, from the middle of each outwards"},
	{"contingency.png", "Classes and clusters"},
	{"cluster-sizes.png", "Sizes of the clusters"},
}

// FindRuns returns the run directories that patterns name, each once, in the
// order of the patterns. A pattern is a run directory, a folder of run
// directories, or a glob of either; within one, numbers in names count as
// numbers. What names no run is an error that wraps ErrRun; a bad glob wraps
// filepath.ErrBadPattern.
func FindRuns(patterns []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, p := range patterns {
		list, err := expand(p)
		if err != nil {
			return nil, err
		}
		for _, dir := range list {
			id, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			if real, err := filepath.EvalSymlinks(id); err == nil {
				id = real
			}
			if !seen[id] {
				seen[id] = true
				out = append(out, dir)
			}
		}
	}
	return out, nil
}

func expand(pattern string) ([]string, error) {
	_, err := os.Stat(pattern)
	if err == nil {
		return runsAt(filepath.Clean(pattern))
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return nil, fmt.Errorf("%w: %s does not exist", ErrRun, pattern)
	}
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	slices.SortFunc(matches, natural)
	var out []string
	for _, m := range matches {
		if info, err := os.Stat(m); err != nil || !info.IsDir() {
			continue // files beside runs, such as a report
		}
		list, err := runsAt(m)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no folder matches %s", ErrRun, pattern)
	}
	return out, nil
}

// runsAt returns path, if it is a run directory, or else those in it.
func runsAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a file; name the run's directory", ErrRun, path)
	}
	if isRun(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	var out []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); isRun(dir) {
			out = append(out, dir)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w: neither %s nor a folder in it has a manifest.json; a run directory is what `tercet train` makes", ErrRun, path)
	}
	slices.SortFunc(out, natural)
	return out, nil
}

// isRun: a directory with only one of the two files is a broken run, which
// ReadRun names; it is not passed over.
func isRun(dir string) bool {
	for _, name := range []string{"manifest.json", "config.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// natural compares names so that seed-2 comes before seed-10.
func natural(a, b string) int {
	digits := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
	x, y := a, b
	for x != "" && y != "" {
		if p, q := digits(x), digits(y); p != "" && q != "" {
			m, n := strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[len(p):], y[len(q):]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// ReadRun reads a run directory with the results of the test images and the last
// checkpoint. manifest.json must be there; results may be missing. An error wraps ErrRun
// and names the file.
func ReadRun(dir string) (*RunDir, error) { return ReadRunOf(dir, Of{}) }

// ReadRunOf is ReadRun for the results of other images or weights.
func ReadRunOf(dir string, of Of) (*RunDir, error) {
	r := &RunDir{Dir: dir, Of: of.full()}
	path := filepath.Join(dir, "manifest.json")
	m, err := read[record.Manifest](path)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("%w: there is no %s; if training was killed at its start, the same tercet train command resumes", ErrRun, path)
	}
	r.Manifest = *m
	if r.Eval, err = readResult[record.Eval](r, "eval"); err != nil {
		return nil, err
	}
	if r.Attack, err = readResult[record.Attack](r, "attack"); err != nil {
		return nil, err
	}
	if r.Cluster, err = readResult[record.Cluster](r, "cluster"); err != nil {
		return nil, err
	}
	if r.Cluster != nil {
		r.Cluster.Labels = nil // of no use here, and most of the document
	}
	if r.Eval != nil && len(r.Eval.Retrieval) == 0 {
		return nil, fmt.Errorf("%w: %s has no scores under \"retrieval\"", ErrRun, r.Of.document(dir, "eval"))
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
func readResult[D result](r *RunDir, kind string) (*D, error) {
	for i, path := range r.Of.places(r.Dir, kind) {
		d, err := read[D](path)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		of := sourceOf((*d).From())
		why := r.foreign((*d).From())
		if of == r.Of && why == "" {
			return d, nil
		}
		if of == r.Of {
			r.Left = append(r.Left, fmt.Sprintf("%s %s: left out", path, why))
			continue
		}
		if i == 0 {
			r.Left = append(r.Left, fmt.Sprintf("%s is of the %s, not of the %s: left out", path, of.words(), r.Of.words()))
		}
	}
	return nil, nil
}

// findFigures lists the run's pictures, but for those of results that are not there.
func (r *RunDir) findFigures() {
	for _, f := range figures {
		if r.hides(f.file) {
			continue
		}
		folders := r.Of.pictureFolders(r.Dir)
		if f.file == "training.png" {
			folders = Of{}.pictureFolders(r.Dir)
		}
		for _, dir := range folders {
			p := filepath.Join(dir, f.file)
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
				r.Figures = append(r.Figures, Figure{p, f.caption})
				break
			}
		}
	}
}

// hides says that a picture belongs to a document that was left out.
func (r *RunDir) hides(picture string) bool {
	if r.Left == nil {
		return false
	}
	switch picture {
	case "training.png":
		return false
	case "retrieval.png":
		return r.Eval == nil
	case "attack.png", "attack-curve.png":
		return r.Attack == nil
	}
	return r.Cluster == nil
}

// CheckFigures returns an error that wraps ErrRun and names a picture that is no
// PNG, before a page is built on it.
func (r *RunDir) CheckFigures() error {
	for _, p := range r.Figures {
		f, _, err := fsx.OpenRegular(p.Path)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRun, err)
		}
		_, err = png.DecodeConfig(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%w: %s is not a PNG picture (%w); remove it, or leave pictures out", ErrRun, p.Path, err)
		}
	}
	return nil
}

// name is the directory's own name, also of ".".
func (r *RunDir) name() string {
	if abs, err := filepath.Abs(r.Dir); err == nil {
		return filepath.Base(abs)
	}
	return r.Dir
}

// status is the manifest's, a collapse marked as tables of papers mark it.
func (r *RunDir) status() string {
	switch r.Manifest.Status {
	case "collapsed":
		return "*collapse*"
	case "":
		return "unknown"
	}
	return string(r.Manifest.Status)
}

func (r *RunDir) label(key string) (string, bool) {
	for _, l := range r.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// word quotes s for a shell where it must be.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@:,=-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
