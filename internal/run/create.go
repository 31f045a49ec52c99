package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tercet/internal/config"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/kernel"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/record"
)

// Create makes root/<name> for cfg, or opens it when it already holds a run of
// exactly this config; what is found there is never overwritten, but for the
// config of a run that has not taken its first step. The run is locked.
func Create(root string, cfg *config.Config) (*Run, error) {
	dir := filepath.Join(root, cfg.Name)
	resolved, err := cfg.Resolved()
	if err != nil {
		return nil, err
	}
	if err := vacant(dir); err != nil {
		return nil, err
	}
	_, err = os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	r := &Run{Dir: dir, Config: cfg, made: made}
	if err := r.Lock(); err != nil {
		return nil, err
	}
	if err := r.begin(resolved); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// vacant returns ErrOtherRun when dir holds something and no run.
func vacant(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is a file; give the run another name (%s name=...) or another %s", ErrOtherRun, dir, option.Name("set"), option.Name("runs-dir"))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	foreign := false
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "config.yaml":
			return nil
		case name == "lock", leftover(name): // a run killed while it was being made
		default:
			foreign = true
		}
	}
	if foreign {
		return fmt.Errorf("%w: %s is not empty and holds no run (no config.yaml); give the run another name (%s name=...) or another %s", ErrOtherRun, dir, option.Name("set"), option.Name("runs-dir"))
	}
	return nil
}

// begin opens the locked directory for r's config, and writes the config first
// where there is none or no step was taken with it.
func (r *Run) begin(resolved []byte) error {
	path := r.Path("config.yaml")
	old, err := fsx.ReadFile(path, config.MaxBytes)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r.write(resolved)
	case err != nil:
		return fmt.Errorf("run directory: %w", err)
	}
	if !sameConfig(old, resolved) {
		if r.untouched() {
			return r.write(resolved)
		}
		if err := r.readManifest(); err == nil && r.Manifest.Config == identity(resolved) {
			return changedConfig(path, r.Manifest.Config, identity(old))
		}
		return fmt.Errorf("%w: %s holds a run of another config; first difference:\n%s\ngive this run another name (%s name=...) or another %s, or remove the old one", ErrOtherRun, r.Dir, firstDifference(string(old), string(resolved)), option.Name("set"), option.Name("runs-dir"))
	}
	switch err := r.readManifest(); {
	case errors.Is(err, os.ErrNotExist): // killed before it was written
		return r.write(resolved)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	return r.makeCheckpoints()
}

// write makes the directory that of a fresh run.
func (r *Run) write(resolved []byte) error {
	if err := fsx.WriteFile(r.Path("config.yaml"), resolved, 0o644); err != nil {
		return err
	}
	r.Manifest = fresh(r.Config)
	if err := r.SaveManifest(); err != nil {
		return err
	}
	return r.makeCheckpoints()
}

// makeCheckpoints makes the folder of the checkpoints where there is none: a process
// may have been killed before it came to that.
func (r *Run) makeCheckpoints() error {
	dir := r.Path("checkpoints")
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%w: %s is a file, but must be the folder of the checkpoints; rename or remove it", ErrNoRun, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return nil
}

// fresh is the manifest of a run that has not begun.
func fresh(cfg *config.Config) record.Manifest {
	m := record.Manifest{
		Schema: record.RunSchema, Name: cfg.Name, Version: Version, Status: record.Running, Seed: cfg.Seed,
		Config: cfg.Hash(), CPU: CPUName(), Kernel: kernel.Setting(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Started: now(),
	}
	if c, ok := cfg.Defense.Options.(adversary.Crafter); ok && c.Crafting().Precision != string(adversary.Float32) {
		m.Precision = c.Crafting().Precision
	}
	return m
}

// untouched says that the directory holds the run of some config and no step of
// it: nothing is lost when another config takes its place.
func (r *Run) untouched() bool {
	old := &Run{Dir: r.Dir}
	if old.readManifest() != nil || old.Manifest.Steps > 0 {
		return false
	}
	entries, err := os.ReadDir(r.Dir)
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "lock", name == "config.yaml", name == "manifest.json", name == "checkpoints", leftover(name):
		case name == "events.jsonl": // what it logged on its way to no step
		default:
			return false
		}
	}
	saved, _ := os.ReadDir(r.Path("checkpoints")) // none where it cannot be read: then there is none
	return err == nil && !slices.ContainsFunc(saved, func(e os.DirEntry) bool { return !leftover(e.Name()) })
}

// sameConfig says whether the config in old is the resolved one, whatever its
// spelling: a later version may have more keys, a user may have added comments.
func sameConfig(old, resolved []byte) bool {
	if string(old) == string(resolved) {
		return true
	}
	cfg, err := config.LoadBytes(old, "config.yaml", nil)
	if err != nil {
		return false
	}
	text, err := cfg.Resolved()
	return err == nil && string(text) == string(resolved)
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		var l, r string
		if i < len(x) {
			l = x[i]
		}
		if i < len(y) {
			r = y[i]
		}
		if l != r {
			return fmt.Sprintf("  there: %s\n  here:  %s", visible(l), visible(r))
		}
	}
	return ""
}

// visible is a line without its margins, quoted where it holds what a terminal would not
// show.
func visible(line string) string {
	line = strings.TrimSpace(line)
	if strings.ContainsFunc(line, func(c rune) bool { return c == '\uFFFD' || !unicode.IsPrint(c) }) {
		return strconv.Quote(line)
	}
	return line
}
