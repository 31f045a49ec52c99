package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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
	once  bool // only the present state is shown
	runs  map[string]*followed
	order []string
	drawn []int           // the characters of each line of the last picture
	lines strings.Builder // of a look, where there is no terminal
}

// tell prints what an event says, where there is no terminal.
func (v *view) tell(f *followed) func(e *record.Event) {
	return func(e *record.Event) {
		if _, _, drawn := v.s.Size(); drawn {
			return
		}
		if line := f.line(e); line != "" {
			fmt.Fprintln(&v.lines, line)
		}
	}
}

// changed says that a run has another status than before.
func (v *view) changed(f *followed, before record.Status) {
	if _, _, drawn := v.s.Size(); drawn || before == "" && f.Status == printed.InTraining && !v.once {
		return
	}
	if v.once && f.Status == printed.InTraining {
		fmt.Fprintln(&v.lines, v.head(f)+text.After("  ", f.best(f.scoreName)))
		return
	}
	why := ""
	switch f.Status {
	case record.Failed, record.Diverged, record.Collapsed, printed.Unreadable:
		why = text.After(": ", scheduler.Readable(f.Message)) // of a file that anyone may have written
	}
	at := ""
	if f.Of > 0 {
		at = fmt.Sprintf(" at step %d of %d", f.Steps, f.Of)
	}
	fmt.Fprintf(&v.lines, "%s: %s%s%s\n", f.name, f.Status, at, why)
}

// draw draws the picture.
func (v *view) draw() {
	if width, height, drawn := v.s.Size(); drawn {
		fmt.Fprint(v.s.Out, v.picture(width, height))
	}
}

// picture is what draws the runs over the last picture, in a terminal of this size. Each line
// is overwritten, and nothing is blank in between.
func (v *view) picture(width, height int) string {
	var lines []string
	if len(v.order) == 1 {
		lines = v.large(v.runs[v.order[0]], width, height)
	} else {
		lines = v.all(width, height)
	}
	lines = lines[:min(len(lines), max(1, height-1))]
	var b strings.Builder
	if up := v.rows(width); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", up)
	}
	v.drawn = nil
	for _, l := range lines {
		l = cut(l, width)
		b.WriteString(v.paint(l) + "\x1b[K\n")
		v.drawn = append(v.drawn, len([]rune(l)))
	}
	return b.String() + "\x1b[J"
}

// rows is how many lines of the terminal the last picture takes, which breaks its lines if it
// has become narrower.
func (v *view) rows(width int) (n int) {
	for _, characters := range v.drawn {
		n += max(1, (characters+width-1)/width)
	}
	return n
}

// all is a picture of several runs: as many as the terminal has room for, those in training
// first.
func (v *view) all(width, height int) (lines []string) {
	shown, room := v.order, max(1, (height-1)/2)
	if len(shown) > room {
		room = max(1, (height-2)/2) // the last line counts the others
		shown = slices.Clone(v.order)
		slices.SortStableFunc(shown, func(a, b string) int {
			return cmp.Compare(rank(v.runs[a]), rank(v.runs[b]))
		})
	}
	rest := map[record.Status]int{}
	for i, dir := range shown {
		if i < room {
			lines = append(lines, v.small(v.runs[dir], width)...)
		} else {
			rest[v.runs[dir].Status]++
		}
	}
	if len(rest) > 0 {
		var words []string
		for _, status := range slices.Sorted(maps.Keys(rest)) {
			words = append(words, fmt.Sprintf("%d %s", rest[status], status))
		}
		lines = append(lines, fmt.Sprintf("and %d more: %s", len(shown)-room, strings.Join(words, ", ")))
	}
	return lines
}

// rank is 0 for runs that are drawn before the others.
func rank(f *followed) int {
	if f.Status == printed.InTraining {
		return 0
	}
	return 1
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
func (v *view) end() { v.drawn = nil }

// head is the first line of a run.
func (v *view) head(f *followed) string {
	share := 0
	if f.Of > 0 {
		share = 100 * f.Steps / f.Of
	}
	out := fmt.Sprintf("%s  %s  step %d of %d (%d %%)", f.name, f.Status, f.Steps, f.Of, share)
	return out + text.After("  ", f.pace())
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
	return []string{v.head(f) + text.After("  ", f.best(f.scoreName)), "  " + curve("loss", f.loss(), w) + text.After("  ", curve(f.scoreName, f.score, w))}
}

// large is a run alone, with graphs of as many lines as there is room for.
func (v *view) large(f *followed, width, height int) []string {
	lines := []string{v.head(f)}
	rows := max(1, min(8, (height-2)/2-2))
	add := func(name string, s render.Series, best string) {
		if len(s.Y) == 0 {
			return
		}
		low, high := bounds(s.Y)
		lines = append(lines, "", fmt.Sprintf("%s %.4g%s", name, s.Y[len(s.Y)-1], text.After(", ", best)))
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
	add("loss", f.loss(), "")
	add(f.scoreName, f.score, f.best(""))
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
