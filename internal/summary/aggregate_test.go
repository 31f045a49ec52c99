package summary

import (
	"math"
	"strings"
	"testing"
)

func run(name, loss string, values map[string]float64) Run {
	return Run{name, map[string]string{"loss": loss}, values}
}

func TestAggregateGroups(t *testing.T) {
	runs := []Run{
		run("b0", "soft", map[string]float64{"r@1": 0.5, "nmi": 0.1}),
		run("a0", "hinge", map[string]float64{"r@1": 0.2, "nmi": math.NaN()}),
		run("a1", "hinge", map[string]float64{"r@1": 0.4, "nmi": 0.3}),
		run("a2", "hinge", map[string]float64{"r@1": 0.3}),
		{Name: "c0", Values: map[string]float64{"nmi": 0.9}},
	}
	table, err := Aggregate(runs, []string{"loss"}, []string{"r@1", "nmi"})
	if err != nil {
		t.Fatal(err)
	}
	got := rendered(t, table, "csv")
	lines := strings.Split(got, "\n")
	if lines[0] != "loss,n,r@1,r@1_low,r@1_high,nmi,nmi_low,nmi_high" || lines[1] != "soft,1,0.5,,,0.1,," ||
		!strings.HasPrefix(lines[2], "hinge,3,0.3") || !strings.HasSuffix(lines[2], "NaN,NaN,NaN") || lines[3] != ",1,,,,0.9,," {
		t.Fatalf("\n%s", got)
	}
	if s := rendered(t, table, "text"); !strings.Contains(s, "0.500 (n=1)") || !strings.Contains(s, "a2 has no nmi") || !strings.Contains(s, "c0 has no r@1") {
		t.Fatalf("\n%s", s)
	}
}

// Labels that would run together if they were only joined stay apart.
func TestAggregateKeepsGroupsApart(t *testing.T) {
	runs := []Run{
		{Name: "1", Labels: map[string]string{"a": "x;true 1 y", "b": "z"}, Values: map[string]float64{"m": 1}},
		{Name: "2", Labels: map[string]string{"a": "x", "b": "y;z"}, Values: map[string]float64{"m": 2}},
		{Name: "3", Labels: map[string]string{"a": "", "b": "z"}, Values: map[string]float64{"m": 3}},
		{Name: "4", Labels: map[string]string{"b": "z"}, Values: map[string]float64{"m": 4}},
	}
	table, err := Aggregate(runs, []string{"a", "b"}, []string{"m"})
	if err != nil || len(table.Rows) != 4 {
		t.Fatalf("%v: %d groups", err, len(table.Rows))
	}
}

func TestAggregateRefusesUnknownKeys(t *testing.T) {
	runs := []Run{run("a", "hinge", map[string]float64{"r@1": 1, "nmi": 1})}
	if _, err := Aggregate(runs, []string{"los"}, nil); err == nil || !strings.Contains(err.Error(), `label "los"; they have loss`) {
		t.Errorf("label: %v", err)
	}
	if _, err := Aggregate(runs, nil, []string{"r@2"}); err == nil || !strings.Contains(err.Error(), `metric "r@2"; they have nmi, r@1`) {
		t.Errorf("metric: %v", err)
	}
	if table, err := Aggregate(nil, []string{"loss"}, []string{"r@1"}); err != nil || len(table.Rows) != 0 {
		t.Errorf("no runs: %v", err)
	}
}
