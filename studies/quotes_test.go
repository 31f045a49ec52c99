package studies

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// A stored mean with its interval.
type stored struct{ mean, low, high float64 }

// storedIntervals reads every column of the CSV files in results that has an interval beside
// it.
func storedIntervals(t *testing.T) []stored {
	t.Helper()
	names, err := filepath.Glob("../results/tables/*.csv")
	if err != nil || len(names) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	others, err := filepath.Glob("../results/oracles/*.csv")
	if err != nil || len(others) == 0 {
		t.Fatalf("no results of other programs: %v", err)
	}
	calculated, err := filepath.Glob("../results/calculated/*.csv")
	if err != nil || len(calculated) == 0 {
		t.Fatalf("no results of calculators: %v", err)
	}
	all := markdownIntervals(t)
	for _, name := range slices.Concat(names, others, calculated) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at := map[string]int{}
		for i, c := range rows[0] {
			at[c] = i
		}
		for i, c := range rows[0] {
			low, hasLow := at[c+"_low"]
			high, hasHigh := at[c+"_high"]
			if c == "value" && !hasLow {
				low, hasLow = at["low"]
				high, hasHigh = at["high"]
			}
			if !hasLow || !hasHigh {
				continue
			}
			for _, row := range rows[1:] {
				m, err1 := strconv.ParseFloat(row[i], 64)
				l, err2 := strconv.ParseFloat(row[low], 64)
				h, err3 := strconv.ParseFloat(row[high], 64)
				if err1 == nil && err2 == nil && err3 == nil {
					all = append(all, stored{m, l, h})
				}
			}
		}
	}
	return all
}

// markdownIntervals reads the tables of results/tables whose runs are gone and that are kept
// as Markdown, with the digits that it has.
func markdownIntervals(t *testing.T) (all []stored) {
	t.Helper()
	text, err := os.ReadFile("../results/tables/noise-attack.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range plusMinus.FindAllStringSubmatch(string(text), -1) {
		mean, half := parsePrinted(m[1]).value, parsePrinted(m[2]).value
		all = append(all, stored{mean, mean - half, mean + half})
	}
	return all
}

// printed is a number as a page prints it.
type printed struct{ value, half float64 } // half a unit of its last digit

func parsePrinted(text string) printed {
	_, decimals, _ := strings.Cut(text, ".")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return printed{math.NaN(), 0}
	}
	return printed{v, 0.5001 * math.Pow(10, -float64(len(decimals)))}
}

// of reports whether the printed number is v rounded to its digits.
func (p printed) of(v float64) bool { return math.Abs(v-p.value) <= p.half }

var (
	plusMinus = regexp.MustCompile(`(-?\d+(?:\.\d+)?) ±(\d+(?:\.\d+)?)`)
	interval  = regexp.MustCompile(`\[(-?\d+(?:\.\d+)?), (-?\d+(?:\.\d+)?)\]`)
)

// quotes lists the intervals of a text as it prints them, and whether a stored value is
// behind each, as a share or in percent, of the difference or of its opposite.
func quotes(text string, all []stored) (found int, missing []string) {
	seek := func(quote string, is func(stored) bool) {
		for _, s := range all {
			for _, scale := range []float64{1, 100, -1, -100} {
				x := stored{s.mean * scale, s.low * scale, s.high * scale}
				if scale < 0 {
					x.low, x.high = x.high, x.low
				}
				if is(x) {
					found++
					return
				}
			}
		}
		missing = append(missing, quote)
	}
	for _, m := range plusMinus.FindAllStringSubmatch(text, -1) {
		mean, half := parsePrinted(m[1]), parsePrinted(m[2])
		seek(m[0], func(s stored) bool { return mean.of(s.mean) && half.of((s.high-s.low)/2) })
	}
	for _, m := range interval.FindAllStringSubmatch(text, -1) {
		low, high := parsePrinted(m[1]), parsePrinted(m[2])
		seek(m[0], func(s stored) bool { return low.of(s.low) && high.of(s.high) })
	}
	return found, missing
}

// isClopperPearson says whether an interval in percent is that of Clopper and Pearson for a
// share "K of N" with 0 < K < N, from the quantiles of the beta distribution.
func isClopperPearson(quote, of string) bool {
	var k, n float64
	m := interval.FindStringSubmatch(quote)
	if _, err := fmt.Sscanf(of, "%f of %f", &k, &n); err != nil || m == nil {
		return false
	}
	low := distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(0.025)
	high := distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(0.975)
	return parsePrinted(m[1]).of(100*low) && parsePrinted(m[2]).of(100*high)
}

// Every interval that the README, the pages of the papers and those of results print is that of a stored
// table, rounded once. testdata/quotes.txt lists those that come from elsewhere, with their
// source.
func TestPagesQuoteStoredTables(t *testing.T) {
	all := storedIntervals(t)
	elsewhere := map[string]int{}
	f, err := os.Open("testdata/quotes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			quote, of, share := strings.Cut(line, " = ")
			if share && !isClopperPearson(quote, of) {
				t.Errorf("studies/testdata/quotes.txt: %s: that is not the interval of %s", quote, of)
			}
			elsewhere[quote]++
		}
	}
	pages, err := filepath.Glob("../docs/papers/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	total := 0
	for _, page := range append(pages, "../README.md", "../docs/papers.md", "../docs/losses.md", "../docs/results.md", "../docs/studies.md", "../docs/scores.md", "../docs/runs.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found, missing := quotes(string(text), all)
		total += found
		for _, quote := range missing {
			key := filepath.Base(page) + ": " + quote
			if elsewhere[key] == 0 {
				t.Errorf("%s: no table of results/tables has it; if it comes from elsewhere, list it in studies/testdata/quotes.txt", key)
				continue
			}
			elsewhere[key]--
		}
	}
	for key, n := range elsewhere {
		if n > 0 {
			t.Errorf("studies/testdata/quotes.txt: %s is not printed any more, or a table has it: remove the line", key)
		}
	}
	if total < 1000 {
		t.Errorf("only %d intervals were found in the tables", total)
	}
}

// A number that is rounded twice is not that of the table.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		v       float64
		printed string
		want    bool
	}{{1.5489, "1.5", true}, {1.5489, "1.6", false}, {58.347, "58.4", false}, {-0.45, "-0.4", true}, {12, "12", true}, {12.6, "12", false}} {
		if got := parsePrinted(c.printed).of(c.v); got != c.want {
			t.Errorf("%q is %v rounded: %v", c.printed, c.v, got)
		}
	}
	if found, missing := quotes("58.3 ±3.4 and 58.4 ±3.4", []stored{{0.58347, 0.54918, 0.61776}}); found != 1 || len(missing) != 1 {
		t.Errorf("found %d, missing %q", found, missing)
	}
}
