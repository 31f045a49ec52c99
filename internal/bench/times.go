package bench

import (
	"context"
	"slices"
	"time"

	"tercet/internal/stat"
)

// leastRepetitions are timed, however long they take.
const leastRepetitions = 3

// times are the seconds of each repetition.
type times []float64

func (t times) best() float64 { return slices.Min(t) }

func (t times) median() float64 { return stat.Median(t) }

// measure times repetitions of t for about that many seconds. The first
// t.warmUp of them, which make buffers, do not count; a second one is left out
// where one is long.
func (t *task) measure(ctx context.Context, seconds float64) (times, error) {
	var list times
	left, calls, least := t.warmUp, float64(max(t.calls, 1)), t.least
	if least == 0 {
		least = leastRepetitions
	}
	start := time.Now()
	last := start
	tick := func() bool {
		now := time.Now()
		if left > 0 {
			left--
			if now.Sub(start).Seconds() > seconds {
				left = 0
			}
			if left == 0 {
				start = now
			}
		} else {
			list = append(list, now.Sub(last).Seconds()/calls)
		}
		if last = now; t.after != nil {
			t.after()
			last = time.Now()
		}
		return ctx.Err() == nil && (len(list) < least || now.Sub(start).Seconds() < seconds)
	}
	if err := t.run(ctx, tick); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// repeat is the run of a task that consists of calls of f.
func repeat(f func() error) func(context.Context, func() bool) error {
	return func(_ context.Context, tick func() bool) error {
		for more := true; more; more = tick() {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}
}
