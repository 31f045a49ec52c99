package rundir

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"

	"tercet/internal/fsx"
)

// Figure is a picture of a run.
type Figure struct{ Path, Caption string }

// figures are the pictures that commands leave in a run's directory.
var figures = []struct{ file, caption string }{
	{"training.png", "Training: loss, scores during training, tuples and distances against the step"},
	{"retrieval.png", "Queries and their nearest images"},
	{"attack.png", "Clean images, what attacks add, attacked images, and what is retrieved before and after"},
	{"attack-curve.png", "Scores under attack against eps"},
	{"worst.png", "Queries that no attack found breaks, against the radius"},
	{"tsne.png", "t-SNE map of the embeddings, by class and by cluster"},
	{"pca.png", "First two principal components of the embeddings"},
	{"clusters.png", "Images of the clusters, from the middle of each outwards"},
	{"contingency.png", "Classes and clusters"},
	{"cluster-sizes.png", "Sizes of the clusters"},
}

// findFigures lists the run's pictures, but for those of results that are not there.
func (r *Run) findFigures() {
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
func (r *Run) hides(picture string) bool {
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
	case "worst.png":
		return true
	}
	return r.Cluster == nil
}

// CheckFigures returns an error that wraps ErrRun and names a picture that is no
// PNG, before a page is built on it.
func (r *Run) CheckFigures() error {
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
