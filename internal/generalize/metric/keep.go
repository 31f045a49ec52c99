package metric

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tercet/internal/engine/kernel"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

// keeper keeps each setting's result in a file, so that a measurement continues after
// an interruption.
type keeper struct {
	dir    string
	say    func(format string, args ...any)
	spared float64 // seconds that the results found took
	found  bool
}

func newKeeper(r *run.Run, p progress.Progress) *keeper {
	return &keeper{dir: r.Path("stability", "points"), say: p.Note}
}

func (k *keeper) by() string { return run.Version + " " + kernel.Setting() }

func (k *keeper) path(key string) string { return filepath.Join(k.dir, key+".json") }

// Load reads the result of a setting.
func (k *keeper) Load(key string, v any) bool {
	p := record.KeptPoint{Result: v}
	if !run.ReadStored(k.path(key), &p) || p.Schema != record.MetricPointSchema || p.By != k.by() || p.Result == nil {
		return false
	}
	if !k.found {
		k.say("settings that were measured before are taken from %s", k.dir)
	}
	k.found, k.spared = true, k.spared+p.Seconds
	return true
}

// Store keeps a result.
func (k *keeper) Store(key string, v any, seconds float64) error {
	if err := os.MkdirAll(k.dir, 0o755); err != nil {
		return err
	}
	return record.Write(k.path(key), record.KeptPoint{Schema: record.MetricPointSchema, By: k.by(), Seconds: seconds, Result: v})
}

// interrupted ends a measurement that was canceled.
type interrupted struct{ dir string }

func (e interrupted) Error() string {
	return fmt.Sprintf("interrupted; the finished settings are in %s: the same command resumes", e.dir)
}

// Is says that to callers it is an interruption as any.
func (interrupted) Is(target error) bool { return target == train.ErrInterrupted }

// ended is the error of a measurement as its caller hears it.
func (k *keeper) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return interrupted{k.dir}
	}
	return misfit(err)
}
