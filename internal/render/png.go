package render

import (
	"image"
	"image/png"
	"io"
	"sync"
)

// encoder writes pictures fast rather than small: a plot takes half of the time that
// the usual effort takes. Its buffers serve one picture after the other.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers{}}

func encode(w io.Writer, m image.Image) error { return encoder.Encode(w, m) }

type buffers struct{ sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.Pool.Get().(*png.EncoderBuffer)
	return e
}

func (b *buffers) Put(e *png.EncoderBuffer) { b.Pool.Put(e) }
