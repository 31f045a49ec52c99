package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tercet/internal/config"
	"tercet/internal/fsx"
	"tercet/internal/ranks"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/train"
	"tercet/internal/wire"
)

var (
	// ErrOtherRun is wrapped when a directory belongs to another run or is not
	// a run's at all.
	ErrOtherRun = errors.New("the directory belongs to something else")
	// ErrNoRun is wrapped when a directory holds no run, or one that is broken.
	ErrNoRun = errors.New("no usable run")
	// ErrBusy is wrapped by BusyError.
	ErrBusy = errors.New("another process is working on this run")
)

// Run is an open run directory.
type Run struct {
	Dir      string
	Config   *config.Config
	Manifest record.Manifest
	lock     *os.File
	used     *os.File          // the config, while this process reads the run; see Use
	log      *train.Log        // while training
	coverage record.Coverage   // of the sampler's first epoch
	open     wire.Opener       // nil for data.Open
	from     string            // where its data were found, if not from the current directory
	Alter    wire.Alteration   // of what is trained on; nil for none
	checked  *Checked          // by Precheck, until training takes it
	made     bool              // this process has made the directory
	recorded *record.LogRecord // of the log that is gone on with
	unsealed bool              // training resumed from a checkpoint without a digest
	waited   float64           // for input, in sessions before this one
	session  *session          // with other ranks; nil for none

	// Team, where set, is the ranks that train the run, this one as rank 0: the others
	// are in Follow.
	Team *ranks.Team

	// From, where set, makes Train begin at another checkpoint than the last one, which
	// it replaces: "previous" or "best"; or at the first step: Start.
	From string

	// Device, where set, takes the place of train.device for the steps from here on.
	Device string
}

// Path joins a name onto the run's directory.
func (r *Run) Path(name ...string) string {
	return filepath.Join(append([]string{r.Dir}, name...)...)
}

// Last, Previous and BestPath are the checkpoints; Previous is the one before the last.
func (r *Run) Last() string     { return r.Path("checkpoints", "last.safetensors") }
func (r *Run) Previous() string { return r.Path("checkpoints", "previous.safetensors") }
func (r *Run) BestPath() string { return r.Path("checkpoints", "best.safetensors") }

// Open opens an existing run directory for reading or resuming.
func Open(dir string) (*Run, error) {
	path := filepath.Join(dir, "config.yaml")
	text, err := fsx.ReadFile(path, config.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, rundir.NoRun(dir))
	}
	if info, e := os.Stat(dir); err != nil && e == nil && !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a file; give the run's directory", ErrNoRun, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	cfg, err := config.LoadBytes(text, path, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	r := &Run{Dir: dir, Config: cfg}
	switch err := r.readManifest(); {
	case errors.Is(err, os.ErrNotExist): // killed before it was written
		r.Manifest = fresh(cfg)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	if err := SameConfig(path, text, cfg, r.Manifest.Config); err != nil {
		return nil, err
	}
	return r, nil
}

// SameConfig returns an error that wraps ErrNoRun where the config at path, with the
// given text, is not the one whose hash a run's manifest has.
func SameConfig(path string, text []byte, cfg *config.Config, hash string) error {
	if hash != identity(text) && hash != cfg.Hash() {
		return changedConfig(path, hash, cfg.Hash())
	}
	return nil
}

// changedConfig says that the config at path has another hash than the run began with.
func changedConfig(path, was, is string) error {
	return fmt.Errorf("%w: %s was changed since the run began (it was %s, is %s); restore it, or train the changed one under another name", ErrNoRun, path, was, is)
}

// identity is the hash of a resolved config's text: config.Hash for the version
// that wrote it, also where this version knows more keys.
func identity(resolved []byte) string {
	sum := sha256.Sum256(resolved)
	return hex.EncodeToString(sum[:6])
}

func (r *Run) readManifest() error {
	m, err := record.Read[record.Manifest](r.Path("manifest.json"))
	if err == nil {
		r.Manifest = *m
	}
	return err
}

// SaveManifest writes manifest.json.
func (r *Run) SaveManifest() error {
	if err := r.locked(); err != nil {
		return err
	}
	r.Manifest.Updated = now()
	return record.Write(r.Path("manifest.json"), r.Manifest)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// Version is the program's, set by the command line.
var Version = "unknown"
