package render

import "strings"

// latex renders a tabular for a paper, with the rules of booktabs. Title and notes stand
// in comments: a caption is the author's.
func (t *Table) latex() string {
	var b strings.Builder
	comment := func(s string) {
		for line := range strings.SplitSeq(s, "\n") {
			b.WriteString("% " + line + "\n")
		}
	}
	if t.Title != "" {
		comment(t.Title)
	}
	comment(`needs \usepackage{booktabs}`)
	b.WriteString(`\begin{tabular}{`)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if c.numeric(t.Rows, i) {
			b.WriteByte('r')
		} else {
			b.WriteByte('l')
		}
		head[i] = latexWords(c.header())
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) { b.WriteString(strings.Join(cells, " & ") + ` \\` + "\n") }
	line(head)
	b.WriteString("\\midrule\n")
	for _, r := range t.Rows {
		cells := make([]string, len(r))
		for i, x := range r {
			cells[i] = t.Columns[i].latex(x)
		}
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	for _, n := range t.Notes {
		comment(n)
	}
	return b.String()
}

// latex shows a cell; numbers stand in mathematics, so that a minus is one.
func (c Column) latex(x Cell) string {
	c, x = c.unit(x)
	switch x.kind {
	case missing:
		return "--"
	case words:
		return latexItalic.Replace(latexWords(x.text))
	case integer:
		return "$" + c.Show(x) + "$"
	}
	number := func(v float64) string {
		s := c.number(v)
		if digits, power, ok := strings.Cut(s, "e"); ok {
			return digits + `\cdot10^{` + strings.TrimLeft(strings.Replace(power, "-0", "-", 1), "+0") + "}"
		}
		if strings.Contains(s, "N") || strings.Contains(s, "I") {
			return `\mathrm{` + s + "}" // NaN, Inf
		}
		return s
	}
	v := number(x.value)
	if x.best {
		v = `\mathbf{` + v + "}"
	}
	switch {
	case x.kind == interval && x.brief:
		return "$" + v + "$"
	case x.kind == interval && c.Paper:
		return "$" + v + ` \pm ` + number((x.high-x.low)/2) + "$"
	case x.kind == interval:
		return "$" + v + `\;[` + number(x.low) + `,\,` + number(x.high) + "]$"
	case x.kind == single:
		return "$" + v + "$ (n=1)"
	default:
		return "$" + v + "$"
	}
}

var latexItalic = strings.NewReplacer("*collapse*", `\emph{collapse}`, "*diverged*", `\emph{diverged}`)

var latexSpecial = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "\n", " ",
)

// latexWords keeps words from being read as markup.
func latexWords(s string) string { return latexSpecial.Replace(s) }
