package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// tiny are the jobs' kinds in sizes that a test can afford.
func tiny() []Job {
	job := func(name string, tasks func() ([]task, error)) Job {
		return Job{name, "tiny " + name, "", func(Options) ([]task, error) { return tasks() }}
	}
	pairs := training{"pairs", "", nn.Spec{Name: "mlp", Height: 6, Width: 6, Channels: 1, Units: 40}, 2, 24, 2, 0.4, contrastive, nil, nil}
	net := training{"cnn", "", nn.Spec{Name: "cnn", Height: 8, Width: 8, Channels: 1, Units: 5}, 2, 6, 2, 0.4, cosine, nil, nil}
	triplets := training{"triplets", "", nn.Spec{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Normalize: true}, 3, 5, 2, 0.5, triplet, nil, nil}
	crafted := triplets
	crafted.crafting = &crafting{8.0 / 255, 3.0 / 255, 2, adversary.Float32}
	small := point{pairs, 40, 80, 2000}
	return []Job{
		job("gemm", func() ([]task, error) {
			return []task{product{33, 47, 65, false, true}.task(), product{200, 200, 200, true, false}.task(), gram(70, 30)}, nil
		}),
		job("conv", func() ([]task, error) { return layerShape{"net", 3, 1, square(9, 5, 7, 3, 1)}.tasks(), nil }),
		job("pairs", pairs.prepare), job("cnn", net.prepare), job("triplets", triplets.prepare), job("crafted", crafted.prepare),
		job("dd-point", small.prepare),
		job("knn", func() ([]task, error) { return neighbors(300, 17, 4), nil }),
		job("kmeans", func() ([]task, error) { return kmeans(400, 9, 5, 2), nil }),
		job("photos", func() ([]task, error) { return photos(3, 60, 50) }),
		job("losses", func() ([]task, error) { return losses(16, 8, 9) }),
	}
}

func TestMeasure(t *testing.T) {
	for _, j := range tiny() {
		r, err := j.Measure(t.Context(), Options{Seconds: 0.01, Peak: 1e9})
		if err != nil {
			t.Fatal(err)
		}
		if r.Job != j.Name || r.Threads != par.Threads() || r.Repetitions < leastRepetitions || !(r.BestSeconds > 0) || r.Seconds < r.BestSeconds {
			t.Errorf("%s: %+v", j.Name, r)
		}
		if r.Images > 0 && math.Abs(r.ImagesPerS*r.Seconds-float64(r.Images)) > 1e-6*float64(r.Images) {
			t.Errorf("%s: %v images/s in steps of %v s with %d images", j.Name, r.ImagesPerS, r.Seconds, r.Images)
		}
		if r.GFLOPS > 0 {
			// The share is that of the best repetition and the peak 1 GFLOP/s.
			if r.BestGFLOPS < r.GFLOPS || r.PeakShare < r.ExecutedGFLOPS*0.999 || r.ExecutedGFLOPS > r.GFLOPS {
				t.Errorf("%s: %+v", j.Name, r)
			}
		} else if r.PeakShare != 0 {
			t.Errorf("%s: a share of the peak without a count of operations: %+v", j.Name, r)
		}
		if fits := len(r.Inertia); j.Name == "kmeans" && (fits != r.Repetitions+1 || len(r.Iterations) != fits || r.Iterations[0] < 1 || !(r.Inertia[0] > 0)) {
			t.Errorf("%d repetitions after one that does not count, iterations %v, inertia %v", r.Repetitions, r.Iterations, r.Inertia)
		}
		if j.Name == "conv" && len(r.Parts) != 3 || j.Name == "gemm" && len(r.Parts) != 3 {
			t.Errorf("%s: %d parts", j.Name, len(r.Parts))
		}
		if j.Name == "dd-point" && (r.Images != 160 || math.Abs(r.PointSeconds-2000*r.Seconds) > 1e-9*r.PointSeconds) {
			t.Errorf("%+v", r)
		}
		sum := 0.0
		for _, p := range r.Parts {
			sum += p.Seconds
		}
		if len(r.Parts) > 0 && math.Abs(sum-r.Seconds) > 1e-9 {
			t.Errorf("%s: parts take %v s together, the job %v", j.Name, sum, r.Seconds)
		}
	}
}

func TestCheckFindsTheSameBits(t *testing.T) {
	before := par.Threads()
	for _, j := range tiny() {
		c, err := j.Check(t.Context(), Options{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Identical || c.Arrays == 0 || c.Threads[0] != 1 || c.Threads[1] < 2 {
			t.Errorf("%+v", c)
		}
	}
	if par.Threads() != before {
		t.Errorf("%d threads afterwards, %d before", par.Threads(), before)
	}
	par.SetThreads(3)
	defer par.SetThreads(before)
	if c, err := tiny()[0].Check(t.Context(), Options{}, 1); err != nil || c.Threads != [2]int{1, 3} || par.Threads() != 3 {
		t.Errorf("%+v, %v: want 1 and 3 threads", c, err)
	}
}

// A job whose result is the number of threads, which Check must notice.
func TestCheckFindsADifference(t *testing.T) {
	var n float32
	j := Job{"odd", "", "", func(Options) ([]task, error) {
		return []task{{
			run: repeat(func() error { n = float32(par.Threads()); return nil }),
			results: func(visit func(string, []float32)) {
				visit("same", []float32{1})
				visit("threads", []float32{n})
			},
		}}, nil
	}}
	c, err := j.Check(t.Context(), Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Identical || c.Difference != "threads" || c.Arrays != 2 {
		t.Errorf("%+v", c)
	}
}

// The same bits in another place of an array are another result; so is a zero of
// the other sign.
func TestHash(t *testing.T) {
	long := make([]float32, 3000)
	moved := make([]float32, 3000)
	long[1], moved[2999] = 1, 1
	zero := float32(0)
	for _, pair := range [][2][]float32{{long, moved}, {{0}, {-zero * 1}}, {{0}, {float32(math.Copysign(0, -1))}}, {{1}, {1, 0}}} {
		same := len(pair[0]) == len(pair[1])
		for i := range min(len(pair[0]), len(pair[1])) {
			same = same && math.Float32bits(pair[0][i]) == math.Float32bits(pair[1][i])
		}
		if (hash(pair[0]) == hash(pair[1])) != same {
			t.Errorf("%d and %d numbers: same bits %v", len(pair[0]), len(pair[1]), same)
		}
	}
}

func TestMeasureIsInterrupted(t *testing.T) {
	for _, j := range tiny() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := j.Measure(ctx, Options{Seconds: 60}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", j.Name, err)
		}
		if _, err := j.Check(ctx, Options{}, 1000); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: check: %v", j.Name, err)
		}
	}
}

func TestWarmUpDoesNotCount(t *testing.T) {
	n := 0
	task := task{warmUp: 3, calls: 4, run: repeat(func() error { n++; return nil })}
	list, err := task.measure(t.Context(), 0.01)
	if err != nil || len(list) < leastRepetitions || n != len(list)+3 {
		t.Errorf("%d times of %d repetitions, %v", len(list), n, err)
	}
	n = 0
	if list, err = task.measure(t.Context(), 0); err != nil || len(list) != leastRepetitions || n != leastRepetitions+1 {
		t.Errorf("long repetitions: %d times of %d, %v", len(list), n, err)
	}
	if m := (times{5, 1, 3, 2}).median(); m != 2.5 {
		t.Errorf("median %v, want 2.5", m)
	}
	if m := (times{5, 1, 3}).median(); m != 3 {
		t.Errorf("median %v, want 3", m)
	}
}

func TestFindNamesTheClosest(t *testing.T) {
	if j, err := Find("knn"); err != nil || j.Name != "knn" {
		t.Errorf("%v %v", j.Name, err)
	}
	_, err := Find("kmean")
	if err == nil || !strings.Contains(err.Error(), `unknown job "kmean"; did you mean kmeans? valid: gemm, conv, mlp`) {
		t.Errorf("got %v", err)
	}
}

// A first look says what it does, and does it.
func TestQuickJobs(t *testing.T) {
	rows := map[string]int{"losses": 0, "knn": 20_000, "kmeans": 6_000, "kmeans-100": 2_000, "ers": 64, "worst": 8}
	for _, j := range Jobs() {
		n, fewer := rows[j.Name]
		if (j.What(true) != j.What(false)) != fewer {
			t.Errorf("%s: %q, quick %q", j.Name, j.What(false), j.What(true))
		}
		if !fewer {
			continue
		}
		tasks, err := j.prepare(Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%d,000 x", n/1000)
		switch j.Name {
		case "ers", "worst":
			text = fmt.Sprintf(", %d of 2000 images", n)
		case "losses": // of all embeddings of a batch, not a rate of rows
			text = ": 128 x 128 embeddings"
		}
		if tasks[0].images != n || !strings.Contains(j.What(true), text) {
			t.Errorf("%s: %d rows, want %d; it says %q", j.Name, tasks[0].images, n, j.What(true))
		}
	}
}

// The counts are written out from the shapes, a multiply-add as two.
func TestFLOPs(t *testing.T) {
	count := func(name string) float64 {
		j, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		tasks, err := j.prepare(Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tasks[0].direct
	}
	mlp := 2.0 * (784*200 + 200*200 + 200*200)
	if want := 256 * (3*mlp - 2*784*200); count("mlp") != want {
		t.Errorf("mlp: %v, want %v", count("mlp"), want)
	}
	first, others := 2.0*28*28*25*32, 2.0*(14*14*25*32*64+3136*1024+1024*512)
	if want := 384 * (3*(first+others) - first); count("c2f2") != want {
		t.Errorf("c2f2: %v, want %v", count("c2f2"), want)
	}
	if want := 384 * ((3+2*8)*(first+others) - first); count("c2f2-hm8") != want {
		t.Errorf("c2f2-hm8: %v, want %v", count("c2f2-hm8"), want)
	}
	first, others = 2.0*28*28*9*47, 2.0*(28*28*9*47*94+14*14*9*94*94+94*94)
	if want := 256 * (3*(first+others) - first); count("cnn47") != want {
		t.Errorf("cnn47: %v, want %v", count("cnn47"), want)
	}
}

// The convolutions that a job counts are those of its network.
func TestConvolutionsOfJobs(t *testing.T) {
	for _, j := range trainings() {
		m, err := nn.Build(j.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want, got, layers, listed float64
		for _, l := range m.Describe() {
			if l.Kind == "Conv2D" {
				want += float64(l.FLOPs)
				layers++
			}
		}
		for _, s := range j.convolutions {
			got += float64(s.times) * convFLOPs(s.conv)
			listed += float64(s.times)
		}
		if got != want || layers != listed {
			t.Errorf("%s: %v layers with %v operations listed, the network has %v with %v", j.name, listed, got, layers, want)
		}
	}
}

// Counts at 28x28 and at a side that is no multiple of a tile: 7 = 2+2+2+1 = 4+3.
func TestExecutedFLOPs(t *testing.T) {
	for _, c := range []struct {
		side, kernel int
		a            kernel.Algorithm
		want         float64
	}{
		{28, 3, kernel.Direct, 2 * 3 * 5 * 82 * 82}, // 3*28 less one at each end
		{28, 3, kernel.Winograd2, 2 * 3 * 5 * 14 * 14 * 16}, {28, 3, kernel.Winograd4, 2 * 3 * 5 * 7 * 7 * 36},
		{7, 3, kernel.Direct, 2 * 3 * 5 * 19 * 19},
		{7, 3, kernel.Winograd2, 2 * 3 * 5 * 4 * 4 * 16}, {7, 3, kernel.Winograd4, 2 * 3 * 5 * 2 * 2 * 36},
		{14, 5, kernel.Direct, 2 * 3 * 5 * 64 * 64}, {14, 5, kernel.Winograd2, 2 * 3 * 5 * 7 * 7 * 36}, {14, 5, kernel.Winograd4, 2 * 3 * 5 * 4 * 4 * 64},
	} {
		if got := executedFLOPs(square(c.side, 3, 5, c.kernel, 1), c.a); got != c.want {
			t.Errorf("side %d, kernel %d, %v: %v, want %v", c.side, c.kernel, c.a, got, c.want)
		}
	}
	stem := square(224, 3, 64, 7, 2)
	if got, want := convFLOPs(stem), 2.0*3*64*112*112*49; got != want {
		t.Errorf("stem: %v, want %v", got, want)
	}
	// Of the stem's windows the first and the second begin at -3 and -1, the last
	// ends at 226 of 224: the first has 4 rows inside, the second 6, the last 5.
	if got, want := executedFLOPs(stem, kernel.Direct), 2.0*3*64*(7*112-3-1-2)*(7*112-3-1-2); got != want {
		t.Errorf("stem without padding: %v, want %v", got, want)
	}
}

// Anchors and positives show one class, negatives and the second rows of
// different pairs another, and pixels lie in [0, 1].
func TestImages(t *testing.T) {
	for _, job := range []training{
		{spec: nn.Spec{Height: 8, Width: 8, Channels: 3}, group: 3, groups: 4, batches: 2, contrast: 0.9},
		{spec: nn.Spec{Height: 8, Width: 8, Channels: 1}, group: 2, groups: 4, batches: 1, contrast: 0.9},
	} {
		batches := job.makeBatches().batches
		if len(batches) != job.batches {
			t.Fatalf("%d batches", len(batches))
		}
		x := batches[0].Images
		distance := func(i, j int) (d float64) {
			for k, v := range x.Row(i) {
				d += math.Abs(float64(v-x.Row(j)[k])) / float64(x.Cols())
			}
			return
		}
		for _, v := range x.Data {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("pixel %v", v)
			}
		}
		for i, label := range batches[0].Labels {
			for j, other := range batches[0].Labels[:i] {
				if near := distance(i, j) < 0.1; near != (label == other) {
					t.Errorf("rows %d and %d of classes %d and %d are %v apart", i, j, label, other, distance(i, j))
				}
			}
		}
		for _, p := range job.tuples().Pairs {
			if same := batches[0].Labels[p.I] == batches[0].Labels[p.J]; same != p.Similar {
				t.Errorf("pair %+v", p)
			}
		}
		for _, p := range job.tuples().Triplets {
			l := batches[0].Labels
			if l[p.A] != l[p.P] || l[p.A] == l[p.N] {
				t.Errorf("triplet %+v of classes %v", p, l)
			}
		}
	}
}

// Crafting moves pixels by at most eps, and every step's loss reaches the defense:
// without it the next step fails.
func TestCraftingWorks(t *testing.T) {
	job := training{"", "", nn.Spec{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Normalize: true}, 3, 6, 1, 0.4, triplet, &crafting{8.0 / 255, 3.0 / 255, 3, adversary.Float32}, nil}
	model, err := nn.Build(job.spec, rng.New(0, "init"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := job.defense()
	if err != nil {
		t.Fatal(err)
	}
	b := job.makeBatches().batches[0]
	in := &adversary.Batch{Images: b.Images, Labels: b.Labels, IDs: make([]uint64, len(b.Labels))}
	d.(adversary.Observer).Observe(0.05) // what is easier than this is made harder
	out, cost, err := d.Craft(model, in, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := (record.Cost{Forward: 3 * 18, Backward: 3 * 18}); cost != want {
		t.Errorf("cost %+v, want %+v", cost, want)
	}
	most := 0.0
	for i, v := range out.Images.Data {
		most = max(most, math.Abs(float64(v-b.Images.Data[i])))
	}
	if most < 2.0/255 || most > 8.0/255+1e-6 {
		t.Errorf("pixels moved by %v at most", most)
	}
}

func TestMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for a second")
	}
	m := printed.Machine{Threads: 2}
	if m.PeakFLOPS() != 0 {
		t.Error("a peak that was not measured")
	}
	MeasurePeak(&m, m.Ends(), 0.05)
	MeasureCopy(&m, m.Ends(), 0.05)
	for _, list := range [][]printed.Speed{m.Peak, m.Copy} {
		if len(list) != 2 || list[0].Threads != 1 || list[1].Threads != 2 {
			t.Fatalf("%+v", list)
		}
		for _, s := range list {
			if !(s.GFLOPS+s.GBPerS > 0.1) || s.BF16 > 8*s.GFLOPS {
				t.Errorf("%+v", s)
			}
		}
	}
	if want := m.Peak[1].GFLOPS * 1e9; m.PeakFLOPS() != want {
		t.Errorf("peak %v, want %v", m.PeakFLOPS(), want)
	}
	if testutil.Trials(0, 1) == 0 {
		return
	}
	many := PeakFLOPS(8*runtime.GOMAXPROCS(0), bursts)
	if all := PeakFLOPS(runtime.GOMAXPROCS(0), bursts); many > 2*all {
		t.Errorf("%v FLOP/s with more threads than processors, %v with as many", many, all)
	}
}

// The model of a job is the one that its name promises.
func TestModelsOfJobs(t *testing.T) {
	want := map[string]int{"mlp": 237_400, "cnn47": 129_344, "c2f2": 25*32 + 32 + 25*32*64 + 64 + 3136*1024 + 1024 + 1024*512 + 512}
	for _, j := range trainings() {
		n, ok := want[j.name]
		if !ok {
			continue
		}
		m, err := nn.Build(j.spec, nil)
		if err != nil || m.ParamCount() != n {
			t.Errorf("%s: %d parameters, want %d (%v)", j.name, m.ParamCount(), n, err)
		}
		delete(want, j.name)
	}
	if len(want) > 0 {
		t.Errorf("no job for %v", want)
	}
}

// The job of embeddings does the same work in each repetition, and counts the products
// of a forward pass.
func TestEmbeddingTask(t *testing.T) {
	spec := nn.Spec{Name: "resnet18", Height: 8, Width: 8, Channels: 3, Units: 2, Embedding: 3, Normalize: true}
	tasks, err := embedding(spec, 2, nil)
	if err != nil || len(tasks) != 1 || tasks[0].images != 2 || tasks[0].direct != 2*2*16*3 {
		t.Fatalf("%+v, error %v", tasks, err)
	}
	left := 3
	if err := tasks[0].run(context.Background(), func() bool { left--; return left > 0 }); err != nil || left != 0 {
		t.Fatalf("%d left, error %v", left, err)
	}
	tasks[0].results(func(_ string, z []float32) {
		if norm := math.Sqrt(float64(z[0]*z[0] + z[1]*z[1] + z[2]*z[2])); len(z) != 6 || math.Abs(norm-1) > 1e-5 {
			t.Errorf("embeddings %v", z)
		}
	})
}
