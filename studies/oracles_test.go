package studies

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// curve is the test error in percent of one kind of pairs, by seed and place of the width.
type curve map[string][]float64

// torchCurves reads the networks of the other program, in the order of their widths.
func torchCurves(t *testing.T) (curves map[[3]string]curve, widths []string) {
	t.Helper()
	rows := readCSV(t, "../results/oracles/double-descent-torch.csv")
	curves = map[[3]string]curve{}
	for _, r := range rows[1:] { // scenario, noise, effective, width, seed, train_error, test_error
		key := [3]string{r[0], r[1], r[2]}
		if curves[key] == nil {
			curves[key] = curve{}
		}
		e, err := strconv.ParseFloat(r[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		curves[key][r[4]] = append(curves[key][r[4]], 100*e)
		if len(widths) == 0 || widths[len(widths)-1] != r[3] {
			widths = append(widths, r[3])
		}
	}
	return curves, widths
}

func readCSV(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// prominent returns the place that stands highest above the least value before it and the
// least after it, with the places of these two.
func prominent(mean []float64) (before, at, after int) {
	height := math.Inf(-1)
	for i := 1; i < len(mean)-1; i++ {
		a, b := 0, i+1
		for j := range mean {
			if j < i && mean[j] < mean[a] {
				a = j
			}
			if j > i && mean[j] < mean[b] {
				b = j
			}
		}
		if h := mean[i] - max(mean[a], mean[b]); h > height {
			height, before, at, after = h, a, i, b
		}
	}
	return before, at, after
}

// meanBut is the mean of the curve over all seeds but one.
func (c curve) meanBut(seed string) []float64 {
	var sum []float64
	for s, errors := range c {
		if sum == nil {
			sum = make([]float64, len(errors))
		}
		for i, e := range errors {
			if s != seed {
				sum[i] += e
			}
		}
	}
	return sum // a sum has its peak where the mean has
}

// results/oracles/double-descent-torch-summary.csv has the rises and falls of the networks in
// double-descent-torch.csv, and the differences between both kinds of noise, as computed here
// in another language.
func TestSummaryOfDoubleDescent(t *testing.T) {
	curves, widths := torchCurves(t)
	if len(curves) != 10 || len(widths) != 10 {
		t.Fatalf("%d curves of %d widths", len(curves), len(widths))
	}
	lines := 0
	for _, r := range readCSV(t, "../results/oracles/double-descent-torch-summary.csv")[1:] {
		var x []float64
		if r[3] == "rise" || r[3] == "fall" {
			p := r[2]
			if p == "0.0" {
				p = "0"
			}
			c := curves[[3]string{r[0], r[1], p}]
			for seed, errors := range c {
				a, at, b := prominent(c.meanBut(seed))
				if r[3] == "rise" {
					x = append(x, errors[at]-errors[a])
				} else {
					x = append(x, errors[at]-errors[b])
				}
			}
			if _, at, _ := prominent(c.meanBut("")); widths[at] != r[4] {
				t.Errorf("%v: the peak is at width %s", r, widths[at])
			}
		} else {
			pln, sln := curves[[3]string{r[0], "pln", r[2]}], curves[[3]string{r[0], "sln", r[2]}]
			for seed := range pln {
				if last := len(widths) - 1; r[4] == "128" {
					x = append(x, pln[seed][last]-sln[seed][last])
					continue
				}
				d := 0.0
				for i := 1; i <= 5; i++ { // 4, 6, 8, 12, 16
					d += (sln[seed][i] - pln[seed][i]) / 5
				}
				x = append(x, d)
			}
		}
		m, sd := stat.MeanStdDev(x, nil)
		n := float64(len(x))
		half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
		for i, want := range []float64{n, m, m - half, m + half} {
			if got, err := strconv.ParseFloat(r[5+i], 64); err != nil || math.Abs(got-want) > 2e-6 {
				t.Errorf("%v: column %d is %v, recomputed %v", r[:5], 5+i, r[5+i], want)
			}
		}
		lines++
	}
	if lines != 28 {
		t.Errorf("%d lines", lines)
	}
}
