package labeled

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/testutil"
)

// tableRow is what testdata/table.json has of a loss.
type tableRow struct {
	Loss, Source string
	Deviations   []int   // numbers of the items in the loss's section where popular code deviates
	Speed        float64 // evaluations of PyTorch's time in Tercet's
}

// apart are the largest errors of a loss: of values, relative, and of gradients, relative to
// the largest number of a gradient.
type apart struct{ value, gradient float64 }

// stated are the errors that the table states: the first that is at least four times the measured
// one, since other kernels round otherwise.
var stated = []float64{2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5}

const tablePage = "../../../../docs/losses.md"

// The table of all losses in docs/losses.md has the stored sources, deviations and speeds, and
// errors that are not exceeded here: against plain loops in float64, and against
// pytorch-metric-learning's own losses where both define the same (testdata/pml.json).
func TestTableOfLossesGolden(t *testing.T) {
	var rows []tableRow
	testutil.ReadJSON(t, "testdata/table.json", &rows)
	loops, peers := errorsBy(t, "testdata/labeled.json"), errorsBy(t, "testdata/pml.json")
	page, err := os.ReadFile(tablePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), "<!-- losses -->\n")
	old, after, found := strings.Cut(rest, "<!-- end -->")
	if !found {
		t.Fatalf("%s has no lines <!-- losses --> and <!-- end -->", tablePage)
	}
	var table strings.Builder
	table.WriteString("| loss | source | popular code deviates | value, loops | gradient, loops | value, PML | gradient, PML | speed |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	named := map[string]bool{}
	for _, r := range rows {
		named[r.Loss] = true
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s |\n", r.Loss, r.Source, numbers(r.Deviations), cells(loops, r.Loss), cells(peers, r.Loss), speed(r.Speed))
		section := regexp.MustCompile(`(?s)\n### [^\n]*\b` + r.Loss + `\b[^\n]*\n(.*?)(\n##|$)`).FindStringSubmatch(string(page))
		for _, n := range r.Deviations {
			if section == nil || !strings.Contains(section[1], fmt.Sprintf("\n%d. ", n)) {
				t.Errorf("%s: its section has no item %d", r.Loss, n)
			}
		}
	}
	for name := range loops {
		if !named[name] {
			t.Errorf("the table has no row of %s", name)
		}
	}
	if testutil.Updating() {
		testutil.Write(t, tablePage, before+"<!-- losses -->\n"+table.String()+"<!-- end -->"+after)
		return
	}
	// Errors of other kernels may round to another step: those of the page must be no smaller.
	number := regexp.MustCompile(`\b\de-0?\d\b`)
	if number.ReplaceAllString(old, "E") != number.ReplaceAllString(table.String(), "E") {
		t.Errorf("the table differs from testdata (make golden writes it again):\n%s", testutil.Diff(old, table.String()))
	}
	for i, line := range strings.Split(old, "\n") {
		if i < 2 || line == "" {
			continue
		}
		cell := strings.Split(line, "|")
		name := strings.TrimSpace(cell[1])
		for k, have := range []float64{loops[name].value, loops[name].gradient, peers[name].value, peers[name].gradient} {
			var says float64
			if _, err := fmt.Sscan(strings.TrimSpace(cell[4+k]), &says); err == nil && have > says {
				t.Errorf("%s: error %.2g, the page says %g", name, have, says)
			}
		}
	}
}

// errorsBy evaluates the cases of a file, and returns the largest errors of each loss.
func errorsBy(t *testing.T, path string) map[string]apart {
	t.Helper()
	var inputs, wants struct{ Cases []labeledCase }
	testutil.ReadJSON(t, "testdata/labeled.json", &inputs)
	testutil.ReadJSON(t, path, &wants)
	byName := map[string]labeledCase{}
	for _, c := range inputs.Cases {
		byName[c.Name] = c
	}
	out := map[string]apart{}
	for _, want := range wants.Cases {
		c, ok := byName[want.Name]
		if !ok {
			t.Fatalf("%s: no case %s", path, want.Name)
		}
		l := c.build(t)
		z := array.New(len(c.Rows), len(c.Rows[0]))
		for i, row := range c.Rows {
			copy(z.Row(i), row)
		}
		grad := z.Clone()
		tuples := loss.Tuples{Labels: c.Labels, Items: c.Items}
		for _, x := range c.Triplets {
			tuples.Triplets = append(tuples.Triplets, loss.Triplet{A: x[0], P: x[1], N: x[2]})
		}
		res, err := l.Eval(z, &tuples, grad)
		if err != nil {
			t.Fatal(err)
		}
		a := out[c.Loss]
		a.value = max(a.value, math.Abs(res.Loss-want.Value)/(1e-3+math.Abs(want.Value)))
		a.gradient = max(a.gradient, farthest(grad.Data, want.Gradient))
		if p, ok := l.(loss.Parametric); ok {
			for i, p := range p.Params() {
				if i < len(want.ParamsGradient) {
					a.gradient = max(a.gradient, farthest(p.Grad.Data, want.ParamsGradient[i]))
				}
			}
		}
		out[c.Loss] = a
	}
	return out
}

// farthest is the largest error relative to the largest number.
func farthest(got []float32, want []float64) (far float64) {
	largest := 1e-6
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		far = max(far, math.Abs(float64(got[i])-w)/largest)
	}
	return far
}

func numbers(list []int) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

func cells(by map[string]apart, name string) string {
	a, ok := by[name]
	if !ok {
		return "- | -"
	}
	return step(a.value) + " | " + step(a.gradient)
}

func step(measured float64) string {
	for _, s := range stated {
		if 4*measured <= s {
			return fmt.Sprintf("%.0e", s)
		}
	}
	return fmt.Sprintf("%.0e", stated[len(stated)-1])
}

func speed(ratio float64) string {
	if ratio == 0 {
		return "-"
	}
	if ratio >= 100 {
		return fmt.Sprintf("%.0f", ratio)
	}
	return fmt.Sprintf("%.2g", ratio)
}
