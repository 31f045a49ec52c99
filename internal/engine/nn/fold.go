package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// In mode Eval a batch norm is an affine map of each channel, which the
// convolution before it does by other weights and bias:
// (W*x + b - mean) * scale + shift = (W scale)*x + (b - mean) scale + shift.
// Evaluation and crafting so pass over the images in memory once a layer, not
// twice. The results differ from those of mode Frozen by float32 rounding.

// fold writes the weights (..., OutC) and bias of conv and l in one to w and b.
func (l *BatchNorm2D) fold(conv *Conv2D, w, b []float32) {
	l.setRunning()
	l.setScale()
	clear(l.sumA[:len(b)]) // the kernel subtracts nothing
	kernel.Normalize(len(w)/len(b), len(b), conv.weight.Value.Data, l.sumA, l.scale, nil, nil, false, w)
	for i, m := range l.mean {
		if conv.bias != nil {
			m -= float64(conv.bias.Value.Data[i])
		}
		b[i] = float32(float64(l.bias.Value.Data[i]) - float64(m*l.scale[i]))
	}
}

// folded finishes x, which conv has normalized already.
func (l *BatchNorm2D) folded(x *array.Array) *array.Array {
	if l.add == nil {
		return x
	}
	if l.relu {
		kernel.AddReLU(x.Data, l.add.Data, x.Data)
	} else {
		kernel.Add(x.Data, l.add.Data, x.Data)
	}
	return x
}

// backwardFolded returns the gradient with respect to the output of conv that
// conv itself has computed.
func (l *BatchNorm2D) backwardFolded(dy *array.Array, need Need) *array.Array {
	if need&Weights != 0 {
		panic("nn: " + l.name + ": weight gradients in mode Eval: train in mode Frozen")
	}
	if !l.mask {
		return dy
	}
	dx := l.over(dy, &l.dx, l.x.Rows())
	kernel.ReLUBackward(l.x.Data, dy.Data, dx.Data)
	return dx
}
