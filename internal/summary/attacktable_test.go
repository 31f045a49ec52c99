package summary

import (
	"strings"
	"testing"

	"tercet/internal/record"
)

func TestAttackTable(t *testing.T) {
	value := func(v float64, ci ...float64) record.Value {
		m := record.Value{Value: v}
		if ci != nil {
			m.CI95 = &[2]float64{ci[0], ci[1]}
		}
		return m
	}
	published := AttackScores{
		Variant: "published",
		Scores:  record.Scores{{Key: "TMA", Value: value(0.25, 0.125, 0.5)}, {Key: "LTM", Value: value(0.5)}},
		Clean:   record.Scores{{Key: "TMA", Value: value(0.0625, 0, 1)}, {Key: "LTM", Value: value(1)}},
		Right:   record.Scores{{Key: "LTM", Value: value(0.75)}}, RightQueries: 8,
	}
	fixed := published
	fixed.Variant, fixed.Right, fixed.RightQueries = "fixed", nil, 0
	tab := AttackTable("T", []AttackScores{published, fixed})
	for format, want := range map[string]string{
		"markdown": `**T**

| score | published | fixed | clean, published | clean, fixed |
|:--- | ---:| ---:| ---:| ---:|
| TMA | 0.250 [0.125, 0.500] | 0.250 [0.125, 0.500] | 0.062 | 0.062 |
| LTM (%) | 50.0 | 50.0 | 100.0 | 100.0 |
| LTM, right when clean (%) | 75.0 | - | - | - |

higher is more robust, but lower for TMA

right when clean: the 8 queries whose nearest image was of their class before the attack
`,
		"latex": `% T
% needs \usepackage{booktabs}
\begin{tabular}{lrrrr}
\toprule
score & published & fixed & clean, published & clean, fixed \\
\midrule
TMA & $0.250\;[0.125,\,0.500]$ & $0.250\;[0.125,\,0.500]$ & $0.062$ & $0.062$ \\
LTM (\%) & $50.0$ & $50.0$ & $100.0$ & $100.0$ \\
LTM, right when clean (\%) & $75.0$ & -- & -- & -- \\
\bottomrule
\end{tabular}
% higher is more robust, but lower for TMA
% right when clean: the 8 queries whose nearest image was of their class before the attack
`,
		"csv": `score,published,published_low,published_high,fixed,fixed_low,fixed_high,"clean, published","clean, fixed"
TMA,0.25,0.125,0.5,0.25,0.125,0.5,0.0625,0.0625
LTM,0.5,,,0.5,,,1,1
"LTM, right when clean",0.75,,,,,,,
`,
	} {
		var b strings.Builder
		if err := tab.Write(&b, format); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
	if err := tab.Write(new(strings.Builder), "json"); err != nil {
		t.Error(err)
	}
}
