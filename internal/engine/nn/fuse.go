package nn

// fuse lets layers do their neighbors' work where that saves a pass over the
// images in memory. It changes no result beyond float32 rounding, and no
// gradient: max(x, 0) is computed where x is made, and where y = max(x, 0) is
// not positive the gradient is dropped by a layer that reads it anyway.
//
// A batch norm with ReLU and MaxPool after it is one pass over its input, and the
// array of its size between is not made: see pooled.go. In mode Eval a batch norm is folded into the convolution before it: see fold.go.
//
// A ReLU always stays in its place with its name; its own passes then do nothing.
func fuse(layers []Layer) {
	for i := 0; i+1 < len(layers); i++ {
		if conv, ok := layers[i].(*Conv2D); ok {
			if norm, ok := layers[i+1].(*BatchNorm2D); ok {
				conv.norm, norm.conv = norm, conv
			}
		}
		relu, ok := layers[i+1].(*ReLU)
		if !ok {
			continue
		}
		masked := false // some layer drops the gradient for relu
		if i+2 < len(layers) {
			if pool, ok := layers[i+2].(*MaxPool); ok {
				// A window's maximum is positive where its winner is.
				pool.mask, masked = true, true
				if norm, ok := layers[i].(*BatchNorm2D); ok {
					norm.pool, pool.norm = pool, norm
				}
			}
		}
		switch l := layers[i].(type) {
		case *Conv2D:
			l.relu = true
		case *Linear:
			l.relu = true
		case *BatchNorm2D:
			l.relu, l.mask = true, !masked
			masked = true
		case *Residual:
			l.activate(!masked)
			masked = true
		default:
			relu.masked = masked
			continue
		}
		relu.done, relu.masked = true, masked
	}
}
