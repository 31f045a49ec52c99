package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) relu(x, y []float32) {
	y = y[:len(x)]
	if assembly && l != Generic && len(x) > 0 {
		reluAsm(l, len(x), &x[0], &y[0])
	} else {
		reluGeneric(x, y)
	}
}

func (l Level) reluBackward(y, dy, dx []float32) {
	dy, dx = dy[:len(y)], dx[:len(y)]
	if assembly && l != Generic && len(y) > 0 {
		reluBackwardAsm(l, len(y), &y[0], &dy[0], &dx[0])
	} else {
		reluBackwardGeneric(y, dy, dx)
	}
}

func (l Level) add(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	if assembly && l != Generic && len(a) > 0 {
		addAsm(l, len(a), &a[0], &b[0], &out[0])
	} else {
		addGeneric(a, b, out)
	}
}

func (l Level) addReLU(a, b, out []float32) {
	b, out = b[:len(a)], out[:len(a)]
	if assembly && l != Generic && len(a) > 0 {
		addReLUAsm(l, len(a), &a[0], &b[0], &out[0])
	} else {
		addReLUGeneric(a, b, out)
	}
}

func (l Level) axpy(alpha float32, x, y []float32) {
	y = y[:len(x)]
	if assembly && l != Generic && len(x) > 0 {
		axpyAsm(l, alpha, len(x), &x[0], &y[0])
	} else {
		axpyGeneric(alpha, x, y)
	}
}

func (l Level) scale(alpha float32, x []float32) {
	if assembly && l != Generic && len(x) > 0 {
		scaleAsm(l, alpha, len(x), &x[0])
	} else {
		scaleGeneric(alpha, x)
	}
}
