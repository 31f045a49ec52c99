package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func sample() *Table {
	return &Table{
		Title:   "Unseen characters",
		Columns: []Column{{Name: "run"}, {Name: "n", Digits: -1}, {Name: "recall@1"}, {Name: "map@r", Percent: true}},
		Rows: [][]Cell{
			{Text("raw | pixels"), Int(1), Interval(0.345, 0.3241, 0.3659), Number(0.15)},
			{Text(`a "b", c`), Int(12000), Single(0.98149), Missing()},
			{Text("broken"), Int(0), Number(math.NaN()), Interval(0.7, 0.6, 0.8)},
			{Text("tiny"), Int(3), Number(0.0000123), Number(-1)},
		},
		Notes: []string{"95 % intervals."},
	}
}

func render(t *testing.T, table *Table, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The goldens were written by hand from the rules in the doc comments; the boxes
// and the dashes are those of go-pretty.
var golden = map[string]string{
	"text": `Unseen characters
╭──────────────┬───────┬──────────────────────┬───────────────────╮
│ run          │     n │             recall@1 │         map@r (%) │
├──────────────┼───────┼──────────────────────┼───────────────────┤
│ raw | pixels │     1 │ 0.345 [0.324, 0.366] │              15.0 │
│ a "b", c     │ 12000 │          0.981 (n=1) │                 - │
│ broken       │     0 │                  NaN │ 70.0 [60.0, 80.0] │
│ tiny         │     3 │             1.23e-05 │            -100.0 │
╰──────────────┴───────┴──────────────────────┴───────────────────╯
95 % intervals.
`,
	"markdown": `**Unseen characters**

| run | n | recall@1 | map@r (%) |
|:--- | ---:| ---:| ---:|
| raw \| pixels | 1 | 0.345 [0.324, 0.366] | 15.0 |
| a "b", c | 12000 | 0.981 (n=1) | - |
| broken | 0 | NaN | 70.0 [60.0, 80.0] |
| tiny | 3 | 1.23e-05 | -100.0 |

95 % intervals.
`,
	"latex": `% Unseen characters
% needs \usepackage{booktabs}
\begin{tabular}{lrrr}
\toprule
run & n & recall@1 & map@r (\%) \\
\midrule
raw \textbar{} pixels & $1$ & $0.345\;[0.324,\,0.366]$ & $15.0$ \\
a "b", c & $12000$ & $0.981$ (n=1) & -- \\
broken & $0$ & $\mathrm{NaN}$ & $70.0\;[60.0,\,80.0]$ \\
tiny & $3$ & $1.23\cdot10^{-5}$ & $-100.0$ \\
\bottomrule
\end{tabular}
% 95 % intervals.
`,
	"csv": `run,n,recall@1,recall@1_low,recall@1_high,map@r,map@r_low,map@r_high
raw | pixels,1,0.345,0.3241,0.3659,0.15,,
"a ""b"", c",12000,0.98149,,,,,
broken,0,NaN,,,0.7,0.6,0.8
tiny,3,1.23e-05,,,-1,,
`,
	"json": `{
  "schema": "tercet.table/1",
  "title": "Unseen characters",
  "columns": [
    "run",
    "n",
    "recall@1",
    "map@r"
  ],
  "rows": [
    {
      "run": "raw | pixels",
      "n": 1,
      "recall@1": {
        "value": 0.345,
        "ci95": [
          0.3241,
          0.3659
        ]
      },
      "map@r": {
        "value": 0.15
      }
    },
    {
      "run": "a \"b\", c",
      "n": 12000,
      "recall@1": {
        "value": 0.98149,
        "n": 1
      },
      "map@r": null
    },
    {
      "run": "broken",
      "n": 0,
      "recall@1": {
        "value": null
      },
      "map@r": {
        "value": 0.7,
        "ci95": [
          0.6,
          0.8
        ]
      }
    },
    {
      "run": "tiny",
      "n": 3,
      "recall@1": {
        "value": 0.0000123
      },
      "map@r": {
        "value": -1
      }
    }
  ],
  "notes": [
    "95 % intervals."
  ]
}
`,
}

func TestWriteGoldens(t *testing.T) {
	for _, f := range Formats() {
		if got := render(t, sample(), f); got != golden[f] {
			t.Errorf("%s:\n%s", f, got)
		}
	}
}

func TestCSVAndJSONAreReadable(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(render(t, sample(), "csv"))).ReadAll()
	if err != nil || len(rows) != 5 || rows[2][0] != `a "b", c` {
		t.Fatalf("%v %q", err, rows)
	}
	var doc struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal([]byte(render(t, sample(), "json")), &doc); err != nil || len(doc.Rows) != 4 {
		t.Fatalf("%v %v", err, doc)
	}
}

func TestEmptyTable(t *testing.T) {
	e := &Table{Columns: []Column{{Name: "run"}}}
	for _, f := range Formats() {
		if s := render(t, e, f); !strings.Contains(s, "run") {
			t.Errorf("%s: %q", f, s)
		}
	}
	if s := render(t, &Table{Columns: nil, Rows: [][]Cell{{}}}, "json"); !json.Valid([]byte(s)) {
		t.Errorf("no columns: %s", s)
	}
}

func TestMarkdownCellsAreEscaped(t *testing.T) {
	e := &Table{Columns: []Column{{Name: "a*b"}}, Rows: [][]Cell{{Text("<x> `y`\nz")}, {Text("*collapse*")}, {Text("1 finished, 1 *diverged*")}, {Text("*x*")}}}
	s := render(t, e, "markdown")
	if !strings.Contains(s, "a\\*b") || !strings.Contains(s, "| &lt;x> \\`y\\` z |") || !strings.Contains(s, "| \\*x\\* |") {
		t.Error(s)
	}
	if !strings.Contains(s, "| *collapse* |") || !strings.Contains(s, "| 1 finished, 1 *diverged* |") { // italic
		t.Error(s)
	}
}

// Words keep what TeX would read as markup; a collapse is set off.
func TestLaTeXCellsAreEscaped(t *testing.T) {
	e := &Table{Columns: []Column{{Name: "a_b"}}, Rows: [][]Cell{{Text(`50 % & \x{y}~^$#`)}, {Text("*collapse*")}, {Text("1 a_b, 1 *diverged*")}, {Text("*")}}}
	s := render(t, e, "latex")
	for _, want := range []string{
		"a\\_b \\\\\n", `50 \% \& \textbackslash{}x\{y\}\textasciitilde{}\textasciicircum{}\$\# \\`, `\emph{collapse} \\`, `1 a\_b, 1 \emph{diverged} \\`, "* \\\\\n",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

// As papers print: no unit in the heading, no exponents, no -0.0, half the width of
// an interval.
func TestPaperColumns(t *testing.T) {
	c := Column{Name: "R@1", Percent: true, Digits: 1, Paper: true}
	for _, x := range []struct {
		cell      Cell
		text, tex string
	}{
		{Number(0.0004), "0.0", "$0.0$"},
		{Number(-0.0001), "0.0", "$0.0$"},
		{Number(-0.02), "-2.0", "$-2.0$"},
		{Interval(0.92, 0.87, 0.97), "92.0 ±5.0", "$92.0 \\pm 5.0$"},
	} {
		if got, tex := c.Show(x.cell), c.latex(x.cell); got != x.text || tex != x.tex {
			t.Errorf("%q %q", got, tex)
		}
	}
	if c.header() != "R@1" {
		t.Errorf("heading %q", c.header())
	}
}

func TestWriteRefuses(t *testing.T) {
	err := sample().Write(new(bytes.Buffer), "tex")
	if err == nil || err.Error() != `unknown table format "tex"; valid are text, markdown, latex, csv, json` {
		t.Errorf("unknown format: %v", err)
	}
	short := sample()
	short.Rows[1] = short.Rows[1][:2]
	if err := short.Write(new(bytes.Buffer), "text"); err == nil || !strings.Contains(err.Error(), "row 1 has 2 cells for 4 columns") {
		t.Errorf("short row: %v", err)
	}
	twice := &Table{Columns: []Column{{Name: "a"}, {Name: "a"}}}
	if err := twice.Write(new(bytes.Buffer), "json"); err == nil {
		t.Error("two columns of one name went into JSON")
	}
}

// Names are of files that anyone may have made.
func TestControlCharactersAreShown(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "run"}}, Rows: [][]Cell{{Text("two\nlines\x1b[31m")}}}
	for format, want := range map[string]string{"text": `two\nlines\x1b[31m`, "csv": "\"two\nlines\x1b[31m\""} {
		if got := render(t, table, format); !strings.Contains(got, want) {
			t.Errorf("%s: %q", format, got)
		}
	}
}
