package noise

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

var asym = [][]float64{{0.7, 0.3, 0}, {0, 1, 0}, {0.1, 0.25, 0.65}}

// Each entry's count within five standard deviations.
func TestByConfusion(t *testing.T) {
	const n = 30000
	y := truth(n, 3)
	before := slices.Clone(y)
	out, r, err := ByConfusion(y, asym, 4)
	if err != nil || !slices.Equal(y, before) {
		t.Fatal(err)
	}
	var size [3]float64
	var count [3][3]float64
	flipped := 0
	for i := range y {
		size[y[i]]++
		count[y[i]][out[i]]++
		if y[i] != out[i] {
			flipped++
		}
	}
	wanted := 0.0
	for a := range 3 {
		wanted += size[a] / n * (1 - asym[a][a])
		for b, p := range asym[a] {
			if sd := math.Sqrt(size[a] * p * (1 - p)); math.Abs(count[a][b]-size[a]*p) > 5*sd {
				t.Errorf("%v of %v of class %d become %d, want a share %v", count[a][b], size[a], a, b, p)
			}
		}
	}
	testutil.Near(t, "wanted", r.Wanted, wanted, 1e-9)
	if r.Kind != "confusion" || r.Items != n || r.Flipped != flipped || r.Found != float64(flipped)/n {
		t.Errorf("%+v, %d flipped", r, flipped)
	}
	testutil.Near(t, "effective", r.EffectiveFound, r.Effective, 0.005)
	if again, _, _ := ByConfusion(y, asym, 4); !slices.Equal(again, out) {
		t.Error("one seed gives two answers")
	}
	if other, _, _ := ByConfusion(y, asym, 5); slices.Equal(other, out) {
		t.Error("two seeds give one answer")
	}
}

func TestNext(t *testing.T) {
	const n, k = 20000, 5
	y := truth(n, k)
	low, r, err := Next(y, k, 0.1, 3)
	if err != nil {
		t.Fatal(err)
	}
	high, _, _ := Next(y, k, 0.4, 3)
	flipped := 0
	for i := range y {
		switch low[i] {
		case y[i]:
		case (y[i] + 1) % k:
			flipped++
			if high[i] != low[i] {
				t.Fatal("rates do not nest")
			}
		default:
			t.Fatalf("%d becomes %d", y[i], low[i])
		}
	}
	if r.Kind != "pair-flip" || r.Flipped != flipped || r.Wanted != 0.1 || math.Abs(r.Found-0.1) > 5*math.Sqrt(0.09/n) {
		t.Errorf("%+v, %d flipped", r, flipped)
	}
	all, r, err := Next(y, k, 1, 3)
	if err != nil || r.Found != 1 || r.EffectiveFound != 0 || math.Abs(r.Effective) > 1e-15 || all[0] != (y[0]+1)%k {
		t.Errorf("rate 1: %+v, %v", r, err)
	}
	if out, _, err := Next([]int32{0, 0}, 1, 0, 1); err != nil || !slices.Equal(out, []int32{0, 0}) {
		t.Errorf("one class without noise: %v", err)
	}
}

// Pairs counted one by one: each item, with each other of its seen class; with each of
// each other seen class.
func TestWrongPairsByEnumeration(t *testing.T) {
	y := truth(240, 4)
	for name, seen := range map[string][]int32{
		"clean":  y,
		"sln":    func() []int32 { s, _ := flip(t, y, 4, 0.3, 2); return s }(),
		"next":   func() []int32 { s, _, _ := Next(y, 4, 0.4, 2); return s }(),
		"single": append(slices.Repeat([]int32{1}, 239), 3), // a class of one, two empty ones
		"one":    make([]int32, 240),
	} {
		size := map[int32]float64{}
		for _, c := range seen {
			size[c]++
		}
		var similar, similarWrong, different, differentWrong float64
		for i, c := range seen {
			for j, d := range seen {
				switch {
				case i == j:
				case c == d:
					similar += 1 / (size[c] - 1)
					if y[i] != y[j] {
						similarWrong += 1 / (size[c] - 1)
					}
				default:
					w := 1 / size[d] / float64(len(size)-1)
					different += w
					if y[i] == y[j] {
						differentWrong += w
					}
				}
			}
		}
		want := similarWrong / similar / 2
		if different > 0 {
			want += differentWrong / different / 2
		}
		testutil.Near(t, name, wrongPairs(y, seen), want, 1e-12)
	}
	if p := wrongPairs(nil, nil); p != 0 {
		t.Errorf("no labels: %v", p)
	}
}

// Single-label noise as a matrix has the closed form q - q^2/2; the identity none.
func TestExpectedWrongPairs(t *testing.T) {
	for _, k := range []int{2, 3, 10} {
		for _, q := range []float64{0, 0.1, 0.7, 1} {
			prior := make([]float64, k)
			for i := range prior {
				prior[i] = 1 / float64(k)
			}
			got := expectedWrongPairs(prior, func(a int, put func(int, float64)) {
				for b := range k {
					p := q / float64(k)
					if a == b {
						p += 1 - q
					}
					put(b, p)
				}
			})
			testutil.Near(t, "effective", got, q-q*q/2, 1e-12)
		}
	}
}

// Noise matched by effective rate: over 20 draws the pairs that labels get wrong are
// the share asked for, whatever the number of classes.
func TestEffectiveOverDraws(t *testing.T) {
	const draws, n = 20, 3000
	for _, k := range []int{2, 3, 10} {
		for _, p := range []float64{0.1, 0.2, 0.3} {
			q, err := SLNFromEffective(p)
			if err != nil {
				t.Fatal(err)
			}
			y := make([]int32, n)
			for i := range y {
				y[i] = int32(i % k)
			}
			var sum, square, flipped float64
			for seed := range uint64(draws) {
				_, r := flip(t, y, k, SLNRate(q, k), seed)
				testutil.Near(t, "effective", r.Effective, p, 1e-12)
				testutil.Near(t, "q", r.Q, q, 1e-12)
				sum += r.EffectiveFound
				square += r.EffectiveFound * r.EffectiveFound
				flipped += float64(r.Flipped)
			}
			mean := sum / draws
			se := math.Sqrt((square/draws - mean*mean) / (draws - 1))
			testutil.Near(t, "mean effective", mean, p, 4*se)
			rate := SLNRate(q, k)
			testutil.Near(t, "mean rate", flipped/(draws*n), rate, 4*math.Sqrt(rate*(1-rate)/(draws*n)))
		}
	}
}

func TestReadConfusion(t *testing.T) {
	m, err := readConfusion(strings.NewReader("# cats, dogs, mice\n0.7, 0.3, 0\n\n0,1,0\n.1,.25,6.5e-1\n"), "m.csv", 3)
	if err != nil || !slices.EqualFunc(m, asym, slices.Equal) {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"":                    "m.csv: no numbers",
		"1,0\n0,cat\n":        `m.csv: line 2, column 2: "cat" is not a probability`,
		"1,0\n0.5,1.5\n":      `m.csv: line 2, column 2: "1.5"`,
		"1,NaN\n0,1\n":        `m.csv: line 1, column 2: "NaN"`,
		"1,-0.1\n0,1\n":       `m.csv: line 1, column 2: "-0.1"`,
		"1,0\n\n#\n0,1,0\n":   "m.csv: line 4 has 3 numbers; want 2, one for each class of the training items",
		"1,0\n":               "m.csv: 1 line; want 2",
		"0.5,0.5\n0.5,0.4\n":  "m.csv: row 1 of the confusion matrix sums to 0.9",
		"1,\"0\n0,1\n":        "m.csv: line 2: a quote",
		"1,0\n0,1\n0,1\n":     "m.csv: line 3 is one line of numbers too many for 2 classes",
		"0.5,0.500002\n0,1\n": "row 0 of the confusion matrix sums to",
	} {
		if _, err := readConfusion(strings.NewReader(text), "m.csv", 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestConfusionErrors(t *testing.T) {
	for _, c := range []struct {
		m    [][]float64
		y    []int32
		want string
	}{
		{nil, nil, "is empty"},
		{[][]float64{{1, 0}, {1}}, nil, "2 rows, and row 1 has 1 entries"},
		{[][]float64{{1, 0}, {math.NaN(), 1}}, nil, "NaN in row 1, column 0"},
		{[][]float64{{1, 0}, {0.2, 0.9}}, nil, "row 1 of the confusion matrix sums to 1.1"},
		{[][]float64{{1, 0}, {0, 1}}, []int32{0, 2}, "item 1 has label 2; there are 2 classes"},
	} {
		if _, _, err := ByConfusion(c.y, c.m, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []struct {
		k    int
		rate float64
		want string
	}{{3, 1.1, "rate is 1.1"}, {3, math.NaN(), "rate is NaN"}, {1, 0.5, "1 class: there is no next one"}, {2, 0.5, "item 1 has label 2"}} {
		if _, _, err := Next([]int32{0, 2}, c.k, c.rate, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestReadConfusionIsBounded reads from what never ends: one line of numbers, and lines
// without number.
func TestReadConfusionIsBounded(t *testing.T) {
	for text, want := range map[string]string{"0.1,": "too long to be one of numbers", "0.5,0.5\n": "line 3 is one line of numbers too many"} {
		var read counter
		if _, err := readConfusion(io.TeeReader(&endless{text: text}, &read), "m.csv", 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if read > 1<<18 {
			t.Errorf("%q: %d bytes were read", text, read)
		}
	}
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
