package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"tercet/internal/engine/kernel"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/train"
)

// LostError says that a run diverged or collapsed in an earlier session. The
// same config, seed and program would do so again at the same step.
type LostError struct {
	Dir     string
	Status  record.Status // Diverged or Collapsed
	Message string        // how it ended
}

func (e *LostError) Error() string {
	return fmt.Sprintf("this run has %s before, and would do so again: %s. Change the config and give the run another name (%s name=...), or remove %s to retrain it", e.Status, e.Message, option.Name("set"), e.Dir)
}

// lost returns a *LostError when going on with r would only repeat how it ended.
// Another version or other kernels may fare better and is let through.
func (r *Run) lost() error {
	m := &r.Manifest
	by := latestBuild(m)
	if r.From != "" || m.Status != record.Diverged && m.Status != record.Collapsed || by.Version != Version || by.Kernel != kernel.Setting() {
		return nil
	}
	return &LostError{r.Dir, m.Status, m.Message}
}

// unprepared records why a run that has not taken a step could not begin. One
// that has keeps its state: nothing happened to it.
func (r *Run) unprepared(err error) {
	damaged := errors.Is(err, train.ErrCheckpoint) // which does not concern the run
	if damaged || r.Manifest.Steps > 0 || r.Manifest.Status != record.Running && r.Manifest.Status != record.Failed {
		return
	}
	r.Manifest.Status, r.Manifest.Message = record.Failed, err.Error()
	if !r.made && errors.Is(err, context.Canceled) {
		r.Manifest.Status = record.Interrupted
	}
	r.SaveManifest() // err is what the caller hears of
}

// withdraw removes the directory that this process has made for a run that failed
// before its first step, and says whether it did: nobody has to clear it away.
func (r *Run) withdraw() bool {
	if !r.made || r.Manifest.Status != record.Failed || r.Manifest.Steps > 0 || !r.untouched() {
		return false
	}
	return os.RemoveAll(r.Dir) == nil
}

// tempName matches what a write that was killed leaves behind.
var tempName = regexp.MustCompile(`^\..+\.tmp-[0-9]+-[0-9]+$`)

func leftover(name string) bool { return tempName.MatchString(name) }

// tidy removes what killed processes have left half-written. The lock makes sure
// that no other process is still writing it.
func (r *Run) tidy() {
	for _, dir := range []string{r.Dir, r.Path("checkpoints")} {
		entries, _ := os.ReadDir(dir) // what cannot be listed stays
		for _, e := range entries {
			if e.Type().IsRegular() && leftover(e.Name()) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}
