package attack

import (
	"context"
	"io"
	"strconv"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

// maxCurve bounds the points of a curve: each is a whole attack.
const maxCurve = 1000

// parseCurve reads "eps=0..77/255:12" as that many values of eps, the ends among
// them.
func parseCurve(spec string) ([]float64, error) {
	wrong := func(what string) error {
		return base.Usagef("--curve %q: %s; write eps=FROM..TO:POINTS, such as eps=0..77/255:12", spec, what)
	}
	key, rest, ok := strings.Cut(spec, "=")
	if !ok || strings.TrimSpace(key) != "eps" {
		return nil, wrong("a curve goes over eps")
	}
	span, count, ok := strings.Cut(rest, ":")
	if !ok {
		return nil, wrong("the number of points is missing")
	}
	from, to, ok := strings.Cut(span, "..")
	if !ok {
		return nil, wrong("there is no range FROM..TO")
	}
	lo, err := base.Fraction("--curve: FROM", from)
	if err != nil {
		return nil, err
	}
	hi, err := base.Fraction("--curve: TO", to)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	switch {
	case err != nil:
		return nil, wrong("POINTS is not a whole number")
	case n < 2 || n > maxCurve:
		return nil, wrong("POINTS is " + strconv.Itoa(n) + ", not 2 to " + strconv.Itoa(maxCurve))
	case !(lo < hi):
		return nil, wrong("FROM is not below TO")
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = lo + (hi-lo)*float64(i)/float64(n-1)
	}
	out[n-1] = hi
	return out, nil
}

// checkCurve reads --curve and refuses flags that say something else.
func (o *options) checkCurve() error {
	if !o.changed("curve") {
		return nil
	}
	if o.changed("eps") {
		return base.Usagef("--curve sets eps itself; leave out --eps")
	}
	for _, flag := range []string{"examples", "example-attacks", "save-images", "per-query", "fail-under", "fail-over", "if-needed"} {
		if o.changed(flag) {
			return base.Usagef("--%s applies to a single eps and its attack.json; it cannot be combined with --curve", flag)
		}
	}
	var err error
	o.points, err = parseCurve(o.curve)
	return err
}

// runCurve runs the attacks at each eps, and writes and shows the curve.
func runCurve(ctx context.Context, s *base.Streams, o options, r *run.Run, opts record.AttackOptions, view *base.Stages) error {
	d, err := robustness.Curve(ctx, r, o.Checkpoint, o.Set, opts, o.points, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	s.Warn(d.Warnings...)
	figures := run.FigureFolder(o.out, o.Set, o.Checkpoint)
	if err := base.Undraw(figures, "attack-curve"); err != nil {
		return err
	}
	if err := record.Write(o.curvePath(), d); err != nil {
		return err
	}
	if !o.NoPictures {
		if err := base.Picture(s, func() (string, error) { return robustness.DrawCurve(d, figures) }); err != nil {
			return err
		}
	}
	return s.Result(d, func(w io.Writer) error { return curveTable(d).Write(w, o.Format) })
}
