package watch

import (
	"fmt"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/scheduler"
	"tercet/internal/text"
)

// view shows followed runs: on a terminal as a picture that is drawn again at each look, else
// as lines.
type view struct {
	s     *base.Streams
	runs  map[string]*followed
	order []string
	drawn int // lines of the last picture
}

// tell prints what an event says, where there is no terminal.
func (v *view) tell(f *followed) func(e *record.Event) {
	return func(e *record.Event) {
		if _, drawn := v.s.Width(); drawn {
			return
		}
		if line := f.line(e); line != "" {
			fmt.Fprintln(v.s.Out, line)
		}
	}
}

// changed says that a run has another status than before.
func (v *view) changed(f *followed, before record.Status) {
	if _, drawn := v.s.Width(); drawn || before == "" && f.Status == printed.InTraining {
		return
	}
	why := ""
	switch f.Status {
	case record.Failed, record.Diverged, record.Collapsed, printed.Unreadable:
		why = text.After(": ", scheduler.Readable(f.Message)) // of a file that anyone may have written
	}
	fmt.Fprintf(v.s.Out, "%s: %s at step %d of %d%s\n", f.name, f.Status, f.Steps, f.Of, why)
}

// draw draws the picture.
func (v *view) draw() {
	width, drawn := v.s.Width()
	if !drawn {
		return
	}
	var lines []string
	if len(v.order) == 1 {
		lines = v.large(v.runs[v.order[0]], width)
	} else {
		for _, dir := range v.order {
			lines = append(lines, v.small(v.runs[dir], width)...)
		}
	}
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", v.drawn)
	}
	for _, l := range lines {
		b.WriteString(v.paint(cut(l, width)) + "\n")
	}
	fmt.Fprint(v.s.Out, b.String())
	v.drawn = len(lines)
}

// paint colors the status in the first line of a run.
func (v *view) paint(line string) string {
	for _, f := range v.runs {
		if begin := f.name + "  "; strings.HasPrefix(line, begin+string(f.Status)+"  ") {
			return begin + v.s.Paint(base.StatusTone(f.Status), string(f.Status)) + line[len(begin)+len(f.Status):]
		}
	}
	return line
}

// end leaves the picture where it is.
func (v *view) end() { v.drawn = 0 }

// head is the first line of a run.
func (v *view) head(f *followed) string {
	share := 0
	if f.Of > 0 {
		share = 100 * f.Steps / f.Of
	}
	out := fmt.Sprintf("%s  %s  step %d of %d (%d %%)", f.name, f.Status, f.Steps, f.Of, share)
	return out + text.After("  ", f.pace()) + text.After("  ", f.best)
}

// small is a run in two lines.
func (v *view) small(f *followed, width int) []string {
	curve := func(name string, s render.Series, w int) string {
		if len(s.Y) == 0 {
			return ""
		}
		return fmt.Sprintf("%s %.4g %s", name, s.Y[len(s.Y)-1], graph(s, w, 1)[0])
	}
	w := max(8, min(40, (width-40)/2))
	return []string{v.head(f), "  " + curve("loss", f.loss, w) + text.After("  ", curve(f.scoreName, f.score, w))}
}

// large is a run alone, with graphs of several lines.
func (v *view) large(f *followed, width int) []string {
	lines := []string{v.head(f)}
	add := func(name string, s render.Series) {
		if len(s.Y) == 0 {
			return
		}
		low, high := bounds(s.Y)
		lines = append(lines, "", fmt.Sprintf("%s %.4g", name, s.Y[len(s.Y)-1]))
		const rows = 8
		for i, row := range graph(s, max(10, min(100, width-12)), rows) {
			label := ""
			switch i {
			case 0:
				label = fmt.Sprintf("%.4g", high)
			case rows - 1:
				label = fmt.Sprintf("%.4g", low)
			}
			lines = append(lines, fmt.Sprintf("%10s %s", label, row))
		}
	}
	add("loss", f.loss)
	add(f.scoreName, f.score)
	return lines
}

// cut shortens a line to the width of the terminal, so that it stays one line.
func cut(line string, width int) string {
	r := []rune(line)
	if len(r) < width {
		return line
	}
	return string(r[:max(0, width-1)])
}
