package kernel

// The methods of Level choose the code. Slices are as long as the first one.

func (l Level) exp(x, y []float32) {
	if assembly && l != Generic && len(x) > 0 {
		expAsm(l, len(x), &x[0], &y[0])
	} else {
		expGeneric(x, y)
	}
}

func (l Level) log(x, y []float32) {
	if assembly && l != Generic && len(x) > 0 {
		logAsm(l, len(x), &x[0], &y[0])
	} else {
		logGeneric(x, y)
	}
}
