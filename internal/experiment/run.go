// Package experiment turns a config into a wired run, owns the run directory
// and sweeps. It is the only package that knows all components.
package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/kernel"
	"tercet/internal/fsx"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/train"
)

var (
	// ErrOtherRun is wrapped when a directory belongs to another run or is not
	// a run's at all.
	ErrOtherRun = errors.New("the directory belongs to something else")
	// ErrNoRun is wrapped when a directory holds no run, or one that is broken.
	ErrNoRun = errors.New("no usable run")
	// ErrBusy is wrapped when another process is working on the run.
	ErrBusy = errors.New("another process is working on this run")
)

// Status is where a run stands.
type Status string

// The states of a run.
const (
	Running     Status = "running"
	Finished    Status = "finished"
	Interrupted Status = "interrupted"
	Failed      Status = "failed"
	Collapsed   Status = "collapsed"
	Diverged    Status = "diverged"
)

// Manifest is manifest.json, schema tercet.run/1.
type Manifest struct {
	Schema  string         `json:"schema"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Status  Status         `json:"status"`
	Message string         `json:"message,omitempty"`
	Seed    uint64         `json:"seed"`
	Config  string         `json:"config_hash"`
	Data    DataRecord     `json:"data"`
	Model   ModelRecord    `json:"model"`
	Weights *WeightsRecord `json:"triplet_weights,omitempty"` // of triplet-robust
	Steps   int            `json:"steps"`                     // optimiser steps done
	Of      int            `json:"steps_planned"`
	// Checkpoint is the step of last.safetensors; 0 where there is none yet.
	Checkpoint int            `json:"checkpoint_step,omitempty"`
	Cost       adversary.Cost `json:"cost"`              // images forward and backward
	Crafted    *train.Crafted `json:"crafted,omitempty"` // what the defence did, over all steps
	Seconds    float64        `json:"seconds"`           // training time over all sessions
	Best       *Best          `json:"best,omitempty"`
	// Selection says by what Best and an early stop are chosen, Stopped that there was
	// one: the run is finished all the same.
	Selection *SelectionRecord `json:"selection,omitempty"`
	Stopped   *StopRecord      `json:"stopped,omitempty"`
	CPU       string           `json:"cpu"` // version, cpu and kernel: of the first step
	Kernel    string           `json:"kernel"`
	Builds    []Build          `json:"builds,omitempty"`
	OS        string           `json:"os"`
	Started   string           `json:"started"`
	Updated   string           `json:"updated"`
}

// Best names the best checkpoint.
type Best struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Step   int     `json:"step"`
}

// DataRecord identifies what a run was trained and judged on: sets under their true
// labels.
type DataRecord struct {
	Name string `json:"name"`
	// From is the directory that relative paths of the data counted from: a hint, "" for
	// data without such paths.
	From       string     `json:"from,omitempty"`
	Train      SetRecord  `json:"train"`
	Validation *SetRecord `json:"validation,omitempty"`
	Test       SetRecord  `json:"test"`
	// Noise says how many labels of Train were trained on as another class's, or how
	// many pairs or triplets of the first epoch were wrong.
	Noise *noise.Report `json:"noise,omitempty"`
	// Graph and Triplets describe the tuples of the first epoch of a sampler that
	// gives them.
	Graph    *noise.GraphReport   `json:"graph,omitempty"`
	Triplets *noise.TripletReport `json:"triplets,omitempty"`
}

// SetRecord identifies one set.
type SetRecord struct {
	Items       int    `json:"items"`
	Classes     int    `json:"classes"`
	Shape       [3]int `json:"shape"` // H, W, C
	Fingerprint string `json:"fingerprint"`
}

// ModelRecord describes the network.
type ModelRecord struct {
	Name       string `json:"name"`
	Embedding  int    `json:"embedding"`
	Parameters int    `json:"parameters"`
}

// Run is an open run directory.
type Run struct {
	Dir      string
	Config   *config.Config
	Manifest Manifest
	lock     *os.File
	log      *train.Log    // while training
	coverage data.Coverage // of the sampler's first epoch
	open     opener        // nil for data.Open
	from     string        // where its data were found, if not from the current directory
	alter    alteration    // of what is trained on; nil for none
	checked  *Sets         // what precheck has opened, until training takes it
	made     bool          // this process has made the directory

	// From, where set, makes Train begin at another checkpoint than the last one, which
	// it replaces: "previous" or "best"; or at the first step: Start.
	From string
}

// Path joins a name onto the run's directory.
func (r *Run) Path(name ...string) string {
	return filepath.Join(append([]string{r.Dir}, name...)...)
}

// Last, Previous and BestPath are the checkpoints; Previous is the one before the last.
func (r *Run) Last() string     { return r.Path("checkpoints", "last.safetensors") }
func (r *Run) Previous() string { return r.Path("checkpoints", "previous.safetensors") }
func (r *Run) BestPath() string { return r.Path("checkpoints", "best.safetensors") }

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
		return fmt.Errorf("%w: %s is a file; give the run another name (--set name=...) or another --out", ErrOtherRun, dir)
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
		return fmt.Errorf("%w: %s is not empty and holds no run (no config.yaml); give the run another name (--set name=...) or another --out", ErrOtherRun, dir)
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
		return fmt.Errorf("%w: %s holds a run of another config; first difference:\n%s\ngive this run another name (--set name=...) or another --out, or remove the old one", ErrOtherRun, r.Dir, firstDifference(string(old), string(resolved)))
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
		return fmt.Errorf("%w: %s is a file where the folder of the checkpoints belongs; move it away", ErrNoRun, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return nil
}

// fresh is the manifest of a run that has not begun.
func fresh(cfg *config.Config) Manifest {
	return Manifest{
		Schema: "tercet.run/1", Name: cfg.Name, Version: Version, Status: Running, Seed: cfg.Seed,
		Config: cfg.Hash(), CPU: CPUName(), Kernel: kernel.Setting(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Started: now(),
	}
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

// Open opens an existing run directory for reading or resuming.
func Open(dir string) (*Run, error) {
	path := filepath.Join(dir, "config.yaml")
	text, err := fsx.ReadFile(path, config.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no config.yaml; a run directory is what `tercet train` makes", ErrNoRun, dir)
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
	case r.Manifest.Config != identity(text) && r.Manifest.Config != cfg.Hash():
		return nil, changedConfig(path, r.Manifest.Config, cfg.Hash())
	}
	return r, nil
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

// maxManifest bounds manifest.json, which takes a few kilobytes.
const maxManifest = 1 << 20

func (r *Run) readManifest() error {
	path := r.Path("manifest.json")
	b, err := fsx.ReadFile(path, maxManifest)
	if err != nil {
		return err
	}
	var m Manifest // afresh: what the file leaves out must not stay from before
	if err = record.Check(b); errors.Is(err, record.ErrDigest) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return fmt.Errorf("%s: %s", path, record.Words(err))
	}
	if m.Schema != "tercet.run/1" {
		return fmt.Errorf("%s: schema %q; this version reads tercet.run/1", path, m.Schema)
	}
	r.Manifest = m
	return nil
}

// SaveManifest writes manifest.json.
func (r *Run) SaveManifest() error {
	if err := r.locked(); err != nil {
		return err
	}
	r.Manifest.Updated = now()
	return WriteJSON(r.Path("manifest.json"), r.Manifest)
}

// Lock makes this process the only one that works on the run, or returns
// ErrBusy.
func (r *Run) Lock() error {
	if r.lock != nil {
		return nil
	}
	f, err := os.OpenFile(r.Path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	switch busy, err := lockFile(f); {
	case busy:
		f.Close()
		return fmt.Errorf("%w: %s", ErrBusy, r.Dir)
	case err != nil:
		f.Close()
		return fmt.Errorf("run directory: cannot lock %s: %w; runs need a file system that has locks", f.Name(), err)
	}
	if r.lock = f; !r.holdsLock() { // removed between opening and locking it
		r.Close()
		return fmt.Errorf("%w: %s", ErrBusy, r.Dir)
	}
	return nil
}

// Close gives up the lock.
func (r *Run) Close() {
	if r.lock != nil {
		r.lock.Close()
		r.lock = nil
	}
}

// WriteJSON writes v, an object, indented and with its digest, by way of a temporary
// file. It writes all JSON documents of a run.
func WriteJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		b, err = record.Seal(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fsx.WriteFile(path, b, 0o644)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// Version is the program's, set by the command line.
var Version = "unknown"
