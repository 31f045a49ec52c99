package kernel

// Add sets out[i] = a[i] + b[i]. out may be a or b.
func Add(a, b, out []float32) {
	vectorJob{x: a, y: b[:len(a)], out: out[:len(a)], run: func(j *vectorJob, lo, hi int) {
		j.level.add(j.x[lo:hi], j.y[lo:hi], j.out[lo:hi])
	}}.do(elems)
}

// AddReLU sets out[i] = max(a[i] + b[i], 0); NaN stays NaN. out may be a or b.
func AddReLU(a, b, out []float32) {
	vectorJob{x: a, y: b[:len(a)], out: out[:len(a)], run: func(j *vectorJob, lo, hi int) {
		j.level.addReLU(j.x[lo:hi], j.y[lo:hi], j.out[lo:hi])
	}}.do(elems)
}

// Axpy computes y += alpha*x for slices of equal length, rounding the product.
func Axpy(alpha float32, x, y []float32) {
	vectorJob{factor: alpha, x: x, out: y[:len(x)], run: func(j *vectorJob, lo, hi int) {
		j.level.axpy(j.factor, j.x[lo:hi], j.out[lo:hi])
	}}.do(elems)
}

// Scale computes x *= alpha.
func Scale(alpha float32, x []float32) {
	vectorJob{factor: alpha, out: x, run: func(j *vectorJob, lo, hi int) {
		j.level.scale(j.factor, j.out[lo:hi])
	}}.do(elems)
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
