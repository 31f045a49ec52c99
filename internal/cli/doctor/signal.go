package doctor

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/cli/config"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/text"
)

// patience is how long Slurm (KillWait) and Kubernetes (terminationGracePeriodSeconds) wait by
// default between SIGTERM and SIGKILL.
const patience = 30 * time.Second

// checkSignal says how long the first run of a valid config takes to end after a signal: a
// step, and a checkpoint, which is tried here.
func checkSignal(ctx context.Context, o options) printed.DoctorCheck {
	seconds, what, err := timeToEnd(ctx, o)
	switch {
	case err != nil:
		return printed.DoctorCheck{Name: "signal", Level: "warn", Text: "not measured: " + err.Error()}
	case seconds > patience.Seconds():
		return printed.DoctorCheck{Name: "signal", Level: "warn", Text: what + fmt.Sprintf(": schedulers wait %d s by default, let them wait longer", int(patience.Seconds()))}
	}
	return printed.DoctorCheck{Name: "signal", Level: "ok", Text: what}
}

func timeToEnd(ctx context.Context, o options) (seconds float64, what string, err error) {
	silent := base.NewStreams(nil, io.Discard, io.Discard) // checkConfig has said what there is to say
	c, _, err := config.Checked(silent, o.ConfigFlags)
	if err != nil {
		return 0, "", err
	}
	variants, err := run.Variants(c)
	if err != nil {
		return 0, "", err
	}
	p, err := run.MakePlan(ctx, variants[0])
	if err != nil {
		return 0, "", err
	}
	written, err := timeToWrite(p.Checkpoint)
	seconds = p.StepTime + written
	return seconds, fmt.Sprintf("a run ends about %s after SIGTERM (a step %s, a checkpoint of %s %s)", text.Duration(seconds), text.Duration(p.StepTime), bytesText(uint64(p.Checkpoint)), text.Duration(written)), err
}

// timeToWrite is how long so many bytes take to the disk of this folder.
func timeToWrite(bytes int64) (float64, error) {
	f, err := os.CreateTemp(".", ".tercet-doctor-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	begun := time.Now()
	for block := make([]byte, 1<<20); bytes > 0 && err == nil; bytes -= int64(len(block)) {
		_, err = f.Write(block[:min(bytes, int64(len(block)))])
	}
	if err == nil {
		err = f.Sync()
	}
	return time.Since(begun).Seconds(), err
}
