package rundir

import (
	"fmt"
	"path/filepath"

	"tercet/internal/archive"
	"tercet/internal/record"
	"tercet/internal/text"
)

// foreign says why a document cannot be a result of the run; "" where it may be one. A run
// that was moved or renamed keeps its results.
func (r *Run) foreign(from record.Source) string {
	m := r.Manifest
	if missing := from.Unsaid(); missing != nil {
		return fmt.Sprintf("does not say of which images and weights it is (no %s)", text.List(missing, "and"))
	}
	if from.Config != "" && m.Config != "" {
		if from.Config != m.Config {
			return fmt.Sprintf("is of another run (%s, config %s; this run's is %s)", from.Run, from.Config, m.Config)
		}
	} else if r.ofSibling(from.Run) {
		return fmt.Sprintf("is of another run (%s)", from.Run)
	}
	split := SourceOf(from).Split
	own := SetOf(m.Data, split)
	if from.Items == own.Items && own.Fingerprint != "" && from.Fingerprint != "" && from.Fingerprint != own.Fingerprint {
		return fmt.Sprintf("is of other %s images than the run's (fingerprint %s, not %s)", split, shortPrint(from.Fingerprint), shortPrint(own.Fingerprint))
	}
	return ""
}

// ofSibling reports whether the directory that a document of an older version names, which
// tells no config, is another run beside this one.
func (r *Run) ofSibling(run string) bool {
	name := filepath.Base(filepath.FromSlash(run))
	if run == "" || name == r.Name() || name == r.Manifest.Name {
		return false
	}
	abs, err := filepath.Abs(r.Dir)
	if err != nil {
		return false
	}
	_, err = archive.Stat(filepath.Join(filepath.Dir(abs), name, "manifest.json"))
	return err == nil
}
