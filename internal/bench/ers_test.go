package bench

import (
	"math"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

func tinyERS() ersJob {
	spec := nn.Spec{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Embedding: 8, Normalize: true}
	return ersJob{spec, 60, 10, 3, 2, nil}
}

// Queries survive a ball that is too small for attacks; their time is that of the job.
func TestWorst(t *testing.T) {
	w := worstJob{tinyERS(), 1e-6, 2, 3}
	job := Job{"worst", w.what(), "", func(Options) ([]task, error) { return w.prepare() }}
	r, err := job.Measure(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Images != 10 || r.Repetitions != 1 || !(r.SurvivorSeconds >= r.Seconds/10) || r.SurvivorSeconds > r.Seconds {
		t.Errorf("%+v", r)
	}
	c, err := job.Check(t.Context(), Options{}, 1)
	if err != nil || !c.Identical || c.Arrays != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Each part is an attack, interleaved with its passes: those that it did.
func TestERS(t *testing.T) {
	e := tinyERS()
	tasks, err := e.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) != 9 || tasks[0].name != "CA+" || tasks[8].name != "GTT" {
		t.Fatalf("%d parts", len(tasks))
	}
	job := Job{"ers", e.what(), "", func(Options) ([]task, error) { return e.prepare() }}
	r, err := job.Measure(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Images != 10 || r.Repetitions != 9 || len(r.Parts) != 9 || !(r.NetworkSeconds > 0) || math.Abs(r.NetworkRatio*r.NetworkSeconds-r.Seconds) > 1e-12 {
		t.Errorf("%+v", r)
	}
	c, err := job.Check(t.Context(), Options{}, 1)
	if err != nil || !c.Identical || c.Arrays != 20 {
		t.Errorf("%+v, %v", c, err)
	}
}

// passes does the passes that it is asked for.
func TestNetworkPasses(t *testing.T) {
	m, err := nn.Build(tinyERS().spec, rng.New(0, "init"))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := tinyERS().images()
	if s := newNetworkTime(m, x, 10).passes(135, 60); !(s > 0) {
		t.Errorf("%v s", s)
	}
}

// One clean pass, then a pass with a gradient for each step, and a last one.
func TestFLOPsOfERS(t *testing.T) {
	e := ersJob{spec: nn.Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1}, queries: 3, steps: 32, convolutions: layersOf("c2f2")}
	m, err := nn.Build(e.spec, rng.New(0, "init"))
	if err != nil {
		t.Fatal(err)
	}
	pass := 2.0 * (28*28*25*32 + 14*14*25*32*64 + 3136*1024 + 1024*512)
	direct, executed := e.flops(m)
	if want := 3 * (34 + 32) * pass; direct != want || !(executed > 0 && executed < direct) {
		t.Errorf("%v and %v, want %v", direct, executed, want)
	}
}
