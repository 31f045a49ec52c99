package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/engine/kernel"
	"tercet/internal/ranks"
	"tercet/internal/run"
	"tercet/internal/scheduler"
	"tercet/internal/text"
)

// errElsewhere is the error of a rank that is not to report one.
var errElsewhere = errors.New("rank 0 reports how the command ended")

// inRanks trains with all processes of a job, which open connects. Rank 0 reports.
func inRanks(ctx context.Context, s *base.Streams, o options, open func() (ranks.Comm, error)) error {
	comm, err := open()
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	var traffic ranks.Traffic
	team := ranks.NewTeam(ranks.Metered(comm, &traffic), scheduler.Self(os.Getenv))
	stderr := s.Err
	defer func() { // the others wait for this rank
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "tercet: rank %d (%s): internal error: %v\n%s\n", team.Rank(), scheduler.Self(os.Getenv), v, debug.Stack())
			comm.Abort(base.ExitFailed)
		}
	}()
	if team.Rank() > 0 {
		s.Err, s.Out = io.Discard, io.Discard
	}
	begun := time.Now()
	code, err := trainInRanks(ctx, s, stderr, o, team)
	if team.Size() > 1 && err == nil {
		s.Note("%s", exchanged(traffic, time.Since(begun)))
	}
	if e := comm.Close(); err == nil && e != nil {
		return e
	}
	if team.Rank() > 0 && code != base.ExitDone {
		return &base.ExitError{Code: code, Err: errElsewhere}
	}
	return err
}

// exchanged says what rank 0 has sent, and how long it took.
func exchanged(t ranks.Traffic, all time.Duration) string {
	return fmt.Sprintf("rank 0 exchanged %s in %s, %.2f s of %.2f s; %.2f s of them in short messages, mostly waiting for other ranks",
		text.Bytes(t.Sent), text.Count(t.Calls, "call"), t.Time.Seconds(), all.Seconds(), t.Wait.Seconds())
}

// trainInRanks is what a rank does between the beginning and the end of a job.
func trainInRanks(ctx context.Context, s *base.Streams, stderr io.Writer, o options, team *ranks.Team) (code int, err error) {
	l, err := o.agreed(team)
	if err != nil {
		return base.ExitCode(err), err
	}
	stop := team.Watch(func(e *ranks.LostError) {
		fmt.Fprintf(stderr, "tercet: %v, and a step needs all ranks: start the same command again, and the run resumes from its last checkpoint\n", e)
	}, func() { os.Exit(base.ExitFailed) })
	code, err = share(ctx, s, o, l, team)
	stop()
	return code, err
}

// share trains the runs with all ranks.
func share(ctx context.Context, s *base.Streams, o options, l *loaded, team *ranks.Team) (code int, err error) {
	if team.Rank() > 0 {
		return run.Follow(ctx, team), nil
	}
	s.Note("%s, %s", text.Count(team.Size(), "rank"), team.Describe())
	if team.Size() == 1 {
		team = nil
	}
	if o.resume != "" {
		err = resume(ctx, s, o, team)
	} else {
		l.note(s, o)
		err = all(ctx, s, o.out, l, team)
	}
	if team != nil {
		run.Dismiss(team, base.ExitCode(err))
	}
	return base.ExitCode(err), err
}

// agreed is load on all ranks, which must be of one program and have one config that
// they can share.
func (o options) agreed(team *ranks.Team) (*loaded, error) {
	l := &loaded{}
	var err error
	if o.resume == "" {
		if l, err = o.load(); err == nil {
			err = divide(l.variants, team.Size())
		}
	}
	if err = team.Meet(err); err != nil {
		return nil, err
	}
	build := base.BuildInfo()
	err = team.Same(
		ranks.Fact{Name: "version", Value: strings.TrimSpace(build.Version + " " + build.Commit)},
		ranks.Fact{Name: "architecture", Value: runtime.GOARCH},
		ranks.Fact{Name: "kernel level", Value: kernel.Setting()},
		ranks.Fact{Name: "config", Value: o.resume + digest(l.variants)},
		ranks.Fact{Name: "starting checkpoint", Value: o.from},
	)
	if err != nil {
		return nil, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	return l, nil
}

// digest is the hash of a config, or of those of a sweep.
func digest(variants []*config.Config) string {
	if len(variants) == 1 {
		return variants[0].Hash()
	}
	h := sha256.New()
	for _, v := range variants {
		io.WriteString(h, v.Hash())
	}
	return fmt.Sprintf("%d runs %x", len(variants), h.Sum(nil)[:6])
}

// divide refuses runs that so many ranks cannot share.
func divide(variants []*config.Config, size int) error {
	for _, v := range variants {
		switch shards := v.Train.Shards; {
		case size == 1:
		case v.LearnsMetric():
			return &config.Error{Key: "model.name", Msg: fmt.Sprintf("a metric is fitted by one process, and there are %d ranks", size)}
		case shards%size != 0:
			return &config.Error{Key: "train.shards", Msg: fmt.Sprintf("%d ranks do not divide the %d shards of a batch: set train.shards to the largest number of ranks, a power of two", size, shards)}
		}
	}
	return nil
}
