package kernel

import "tercet/internal/par"

type addJob struct {
	level     Level
	a, b, out []float32
	relu      bool
}

var addJobs par.Free[addJob]

// Add sets out[i] = a[i] + b[i]. out may be a or b.
func Add(a, b, out []float32) { add(a, b, out, false) }

// AddReLU sets out[i] = max(a[i] + b[i], 0); NaN stays NaN. out may be a or b.
func AddReLU(a, b, out []float32) { add(a, b, out, true) }

func add(a, b, out []float32, relu bool) {
	par.Once(&addJobs, len(a), elems, addJob{Current(), a, b[:len(a)], out[:len(a)], relu})
}

// Run does elements [lo, hi).
func (j *addJob) Run(lo, hi int) {
	if j.relu {
		j.level.addReLU(j.a[lo:hi], j.b[lo:hi], j.out[lo:hi])
		return
	}
	j.level.add(j.a[lo:hi], j.b[lo:hi], j.out[lo:hi])
}

type axpyJob struct {
	level Level
	alpha float32
	x, y  []float32 // x nil: y *= alpha
}

var axpyJobs par.Free[axpyJob]

// Axpy computes y += alpha*x for slices of equal length, rounding the product.
func Axpy(alpha float32, x, y []float32) { axpy(alpha, x, y[:len(x)]) }

// Scale computes x *= alpha.
func Scale(alpha float32, x []float32) { axpy(alpha, nil, x) }

func axpy(alpha float32, x, y []float32) {
	par.Once(&axpyJobs, len(y), elems, axpyJob{Current(), alpha, x, y})
}

// Run does elements [lo, hi).
func (j *axpyJob) Run(lo, hi int) {
	if j.x == nil {
		j.level.scale(j.alpha, j.y[lo:hi])
		return
	}
	j.level.axpy(j.alpha, j.x[lo:hi], j.y[lo:hi])
}

func addGeneric(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	for i, v := range a {
		out[i] = v + b[i]
	}
}

func addReLUGeneric(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	for i, v := range a {
		out[i] = positive(v + b[i])
	}
}

func axpyGeneric(alpha float32, x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float32(alpha * v) // the conversion forbids a fused multiply-add
	}
}

func scaleGeneric(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}
