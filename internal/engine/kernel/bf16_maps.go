package kernel

import (
	"fmt"
	"unsafe"

	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// PooledConv is a convolution with bias, then ReLU where it is set, then the maximum of
// windows of two by two pixels.
type PooledConv struct {
	Conv
	ReLU bool
}

// MapsBF16 are pooled convolutions one after the other, whose products are of activations
// and weights rounded to bfloat16, with float32 sums. An image passes through all of them
// before the next one begins: its maps stay in the second cache. For the gradient only the
// places of the largest numbers are kept.
type MapsBF16 struct {
	level  Level
	stages []*stageBF16
	kept   int     // places of an image
	won    []uint8 // of each image of the last Forward
	n      int     // images of it

	spare par.Free[mapsScratch]
	// arguments of a pass
	x, dx []float32
	y     []uint16
	dy    []float32
	ld    int
	forth mapsForward
	back  mapsBackward
}

// stageBF16 is one of them. Its input is a map of bfloat16 with a margin of zeros, pitch
// pixels a row; the gradient of its output before pooling is another one.
type stageBF16 struct {
	PooledConv
	k          int
	oh, ow     int // of the convolution
	ph, pw, pc int // of the pooled map; channels filled up to a multiple of 16
	c          int // of the input map
	pitch      int
	size       int
	backPitch  int
	backPad    int
	backSize   int
	forward    tapsBF16
	backward   tapsBF16
	group      int // pixels of a row of the input whose gradients are columns of a block; 0: columns are channels
	bias       []float32
	wonAt      int // first place among those of an image
}

// tapsBF16 are weights in the order of tiles: panels of 32 columns, of each kernel row
// steps times 32 numbers.
type tapsBF16 struct {
	steps, panels int
	w             []uint16
}

func newTapsBF16(k, numbers, columns int) tapsBF16 {
	t := tapsBF16{steps: ceilDiv(numbers, 32), panels: ceilDiv(columns, 32)}
	t.w = alignedBF16(t.panels * k * t.steps * 1024)
	return t
}

// set writes the weight of number i of a kernel row in column j.
func (t *tapsBF16) set(k, row, i, j int, w float32) {
	at := (j/32*k+row)*t.steps*1024 + i/2*64 + j%32*2 + i%2
	t.w[at] = roundedBF16(w)
}

// NewMapsBF16 returns the chain, or an error where a convolution is not one that it can
// compute.
func NewMapsBF16(convs []PooledConv) (*MapsBF16, error) {
	if err := CheckBF16(); err != nil {
		return nil, err
	}
	m := &MapsBF16{level: Current()}
	m.forth.m, m.back.m = m, m
	for i, c := range convs {
		s, err := newStageBF16(c, i > 0)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			if b := m.stages[i-1]; b.ph != c.H || b.pw != c.W || b.OutC != c.C {
				return nil, fmt.Errorf("a convolution of %dx%dx%d follows maps of %dx%dx%d", c.H, c.W, c.C, b.ph, b.pw, b.OutC)
			}
		}
		s.wonAt = m.kept
		m.kept += s.ph * s.pw * s.pc
		m.stages = append(m.stages, s)
	}
	return m, nil
}

func newStageBF16(c PooledConv, inner bool) (*stageBF16, error) {
	if c.KH != c.KW || c.StrideH != 1 || c.StrideW != 1 || c.PadH != c.PadW || c.PadH >= c.KH {
		return nil, fmt.Errorf("a convolution by kernels of %dx%d with stride %dx%d and padding %dx%d is none for bfloat16", c.KH, c.KW, c.StrideH, c.StrideW, c.PadH, c.PadW)
	}
	s := &stageBF16{PooledConv: c, k: c.KH, c: c.C}
	s.oh, s.ow = c.Out()
	s.ph, s.pw, s.pc = s.oh/2, s.ow/2, roundUp(c.OutC, 16)
	if s.ph < 1 || s.pw < 1 {
		return nil, fmt.Errorf("maps of %dx%d pixels cannot be pooled", s.oh, s.ow)
	}
	if inner {
		s.c = roundUp(c.C, 16)
	}
	if !inner && c.C > 32 {
		return nil, fmt.Errorf("images of %d channels are none for bfloat16", c.C)
	}
	// A block reads 16 pixels and what the last of them needs, beyond the row where the row
	// ends before: these products meet weights of 0, or belong to pixels that are not kept.
	s.pitch = c.W + 2*c.PadW
	s.forward = newTapsBF16(s.k, s.k*s.c, s.pc)
	s.size = (2*s.ph+s.k)*s.pitch*s.c + 16*s.c + s.forward.steps*32
	s.size = max(s.size, (c.PadH+c.H)*s.pitch*s.c)
	s.backPad = s.k - 1 - c.PadH
	s.backPitch = s.ow + 2*s.backPad
	rows := roundUp(c.H, 2)
	if inner {
		s.backward = newTapsBF16(s.k, s.k*s.pc, s.c)
	} else {
		s.group = 32 / c.C
		s.backward = newTapsBF16(s.k, (s.k+s.group-1)*s.pc, 32)
		rows = roundUp(c.H, 32)
	}
	s.backSize = (max(rows, s.oh+s.backPad)+s.k)*s.backPitch*s.pc + (16+32)*s.pc + s.backward.steps*32
	s.bias = make([]float32, roundUp(s.pc, 32))
	return s, nil
}

// Pack takes the weights (K, K, C, OutC) and the bias (OutC, or nil) of a stage.
func (m *MapsBF16) Pack(stage int, w, bias []float32) {
	s := m.stages[stage]
	clear(s.bias)
	copy(s.bias, bias)
	for ky := range s.k {
		for kx := range s.k {
			for c := range s.C {
				row := w[((ky*s.k+kx)*s.C+c)*s.OutC:][:s.OutC]
				for o, v := range row {
					s.forward.set(s.k, ky, kx*s.c+c, o, v)
					if s.group == 0 {
						s.backward.set(s.k, s.k-1-ky, (s.k-1-kx)*s.pc+o, c, v)
						continue
					}
					for x := range s.group {
						s.backward.set(s.k, s.k-1-ky, (s.k-1-kx+x)*s.pc+o, x*s.C+c, v)
					}
				}
			}
		}
	}
}

// Features returns the shape of what Forward gives for an image: height, width, and
// channels filled up to a multiple of 16.
func (m *MapsBF16) Features() (h, w, c int) {
	s := m.stages[len(m.stages)-1]
	return s.ph, s.pw, s.pc
}

// mapsScratch belongs to one task while it runs. Margins of maps are zeros for good.
type mapsScratch struct {
	maps, back [][]uint16
	blocks     []float32
}

func (m *MapsBF16) scratch() *mapsScratch {
	s := m.spare.Get()
	if s.maps == nil {
		blocks := 0
		for _, g := range m.stages {
			s.maps, s.back = append(s.maps, alignedBF16(g.size)), append(s.back, alignedBF16(g.backSize))
			blocks = max(blocks, g.ph, ceilDiv(g.H, 2))
		}
		s.blocks = pages.Make[float32](max(8192, blocks*1024)) // at least 32 KiB: aligned to a page
	}
	return s
}

// Forward computes the features of n images x, rows of y being ld apart.
func (m *MapsBF16) Forward(n int, x []float32, y []uint16, ld int) {
	m.n, m.x, m.y, m.ld = n, x, y, ld
	if cap(m.won) < n*m.kept {
		m.won = make([]uint8, n*m.kept)
	}
	m.won = m.won[:n*m.kept]
	par.Do(n, imagesAtOnce, &m.forth)
	m.x, m.y = nil, nil
}

// imagesAtOnce is how many images a task has.
const imagesAtOnce = 4

type mapsForward struct{ m *MapsBF16 }

// Run embeds images [lo, hi).
func (f *mapsForward) Run(lo, hi int) {
	m := f.m
	t := m.scratch()
	for i := lo; i < hi; i++ {
		s := m.stages[0]
		line := s.W * s.C
		for y := range s.H {
			m.level.roundBF16(m.x[(i*s.H+y)*line:][:line], t.maps[0][((y+s.PadH)*s.pitch+s.PadW)*s.C:])
		}
		for j, s := range m.stages {
			won := m.won[i*m.kept+s.wonAt:]
			if j+1 < len(m.stages) {
				next := m.stages[j+1]
				m.stage(s, t, t.maps[j], t.maps[j+1][(next.PadH*next.pitch+next.PadW)*next.c:], next.pitch, won)
			} else {
				m.stage(s, t, t.maps[j], m.y[i*m.ld:], s.pw, won)
			}
		}
	}
	m.spare.Put(t)
}

// stage computes the pooled outputs y of map x, rows of y being pitch pixels apart.
func (m *MapsBF16) stage(s *stageBF16, t *mapsScratch, x, y []uint16, pitch int, won []uint8) {
	for panel := range s.forward.panels {
		channels := min(32, s.pc-32*panel)
		for px := 0; px < s.pw; px += 8 {
			m.level.convBF16(&s.forward, s.k, panel, s.ph, x[2*px*s.c:], s.pitch, s.c, t.blocks)
			at := px*s.pc + 32*panel
			m.level.poolBF16(&windowArgs{
				strips: s.ph, pixels: min(8, s.pw-px), channels: channels,
				x: &t.blocks[0], xPixel: 2 * 128, xStrip: 4096,
				y: &y[at], yPixel: 2 * s.pc, yStrip: 2 * pitch * s.pc,
				won: &won[at], wonPixel: s.pc, wonStrip: s.pw * s.pc,
				bias: &s.bias[32*panel], relu: s.ReLU,
			})
		}
	}
}

// convBF16 computes blocks of two rows of 16 pixels, one below the other, and the 32
// columns of a panel.
func (l Level) convBF16(w *tapsBF16, k, panel, blocks int, x []uint16, pitch, c int, to []float32) {
	l.multiplyBF16(&tilesArgs{
		runs: k, steps: w.steps, strips: blocks, panels: 1,
		a: (*byte)(unsafe.Pointer(&x[0])), rsa: 2 * c, nexta: 64, below: 2 * pitch * c, stripa: 4 * pitch * c, skip: 2*pitch*c - 64*w.steps,
		b: (*byte)(unsafe.Pointer(&w.w[panel*k*w.steps*1024])), c: (*byte)(unsafe.Pointer(&to[0])), ldc: 128,
	})
}

// Backward computes the gradients dx of the images of the last Forward from those of their
// features, whose rows are ld apart.
func (m *MapsBF16) Backward(dy []float32, ld int, dx []float32) {
	m.dy, m.ld, m.dx = dy, ld, dx
	par.Do(m.n, imagesAtOnce, &m.back)
	m.dy, m.dx = nil, nil
}

type mapsBackward struct{ m *MapsBF16 }

// Run computes the gradients of images [lo, hi).
func (b *mapsBackward) Run(lo, hi int) {
	m := b.m
	t := m.scratch()
	last := len(m.stages) - 1
	for i := lo; i < hi; i++ {
		s := m.stages[last]
		m.level.unpoolBF16(&windowArgs{
			strips: s.ph, pixels: s.pw, channels: s.pc,
			x: &m.dy[i*m.ld], xPixel: 4 * s.pc, xStrip: 4 * s.pw * s.pc,
			y: &t.back[last][(s.backPad*s.backPitch+s.backPad)*s.pc], yPixel: 4 * s.pc, yStrip: 4 * s.backPitch * s.pc,
			won: &m.won[i*m.kept+s.wonAt], wonPixel: s.pc, wonStrip: s.pw * s.pc,
			next: 2 * s.pc, below: 2 * s.backPitch * s.pc,
		})
		for j := last; j > 0; j-- {
			m.inputs(m.stages[j], m.stages[j-1], t, j, m.won[i*m.kept+m.stages[j-1].wonAt:])
		}
		m.images(m.stages[0], t, m.dx[i*m.stages[0].H*m.stages[0].W*m.stages[0].C:])
	}
	m.spare.Put(t)
}

// inputs computes the gradient of the input of stage j, and puts it where the windows of the
// stage before, to, had their largest numbers.
func (m *MapsBF16) inputs(s, to *stageBF16, t *mapsScratch, j int, won []uint8) {
	for panel := range s.backward.panels {
		channels := min(32, s.c-32*panel)
		for px := 0; px < s.W; px += 16 {
			m.level.convBF16(&s.backward, s.k, panel, ceilDiv(s.H, 2), t.back[j][px*s.pc:], s.backPitch, s.pc, t.blocks)
			m.level.unpoolBF16(&windowArgs{
				strips: s.H, pixels: min(16, s.W-px), channels: channels,
				x: &t.blocks[0], xPixel: 128, xStrip: 2048,
				y: &t.back[j-1][((to.backPad)*to.backPitch+to.backPad+2*px)*to.pc+32*panel], yPixel: 4 * to.pc, yStrip: 4 * to.backPitch * to.pc,
				won: &won[px*to.pc+32*panel], wonPixel: to.pc, wonStrip: to.pw * to.pc,
				next: 2 * to.pc, below: 2 * to.backPitch * to.pc,
			})
		}
	}
}

// images computes the gradient of an image: a row of a block is a row of the image, its
// columns are the channels of group pixels.
func (m *MapsBF16) images(s *stageBF16, t *mapsScratch, dx []float32) {
	line, w := s.W*s.C, &s.backward
	strips := ceilDiv(s.H, 32)
	row := 2 * s.backPitch * s.pc
	for px := 0; px < s.W; px += s.group {
		m.level.multiplyBF16(&tilesArgs{
			runs: s.k, steps: w.steps, strips: strips, panels: 1,
			a: (*byte)(unsafe.Pointer(&t.back[0][px*s.pc])), rsa: row, nexta: 64, below: 16 * row, stripa: 32 * row, skip: row - 64*w.steps,
			b: (*byte)(unsafe.Pointer(&w.w[0])), c: (*byte)(unsafe.Pointer(&t.blocks[0])), ldc: 128,
		})
		n := min(s.group, s.W-px) * s.C
		for y := range s.H {
			copy(dx[y*line+px*s.C:][:n], t.blocks[32*y:])
		}
	}
}
