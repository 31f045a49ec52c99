package measure

import (
	"context"
	"errors"
	"fmt"

	"tercet/internal/par"
)

// repeated calls f for repeats 0 to n-1, side by side, each of which writes what is its
// own. The first error by number is returned; repeats that have not begun when ctx is
// done are not made, and its error is returned.
func repeated(ctx context.Context, n int, f func(rep int) error) error {
	if n < 1 {
		return fmt.Errorf("%w: %d repeats; one or more are needed", ErrInput, n)
	}
	errs := make([]error, n)
	par.Each(n, 1, func(rep int) {
		if errs[rep] = ctx.Err(); errs[rep] == nil {
			errs[rep] = f(rep)
		}
	})
	for rep, err := range errs {
		switch {
		case err == nil:
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return ctx.Err()
		default:
			return fmt.Errorf("repeat %d: %w", rep, err)
		}
	}
	return ctx.Err()
}
