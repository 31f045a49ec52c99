package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// tilesCase is a product of blocks with its operands. C has a column more than its blocks.
type tilesCase struct {
	tilesArgs
	a, b, c []byte
}

// newTilesCase lays out operands that draw fills.
func newTilesCase(r *rand.Rand, steps, strips, panels int, add, inPlace bool, draw func(x []byte)) *tilesCase {
	x := &tilesCase{tilesArgs: tilesArgs{steps: steps, strips: strips, panels: panels, rsa: 64, nexta: 32 * 64, stripa: steps * 32 * 64, add: add}}
	if inPlace { // rows of A one after the other
		x.rsa, x.nexta = steps*64+64, 64
		x.stripa = 32 * x.rsa
	}
	x.panelb, x.ldc = steps*16*128, 4*(32*panels+1)
	x.a, x.b, x.c = make([]byte, strips*steps*32*64+strips*32*64), make([]byte, panels*x.panelb), make([]byte, strips*32*x.ldc)
	for _, v := range [][]byte{x.a, x.b, x.c} {
		draw(v)
	}
	return x
}

// run computes the case into a copy of C.
func (x *tilesCase) run(f func(*tilesArgs)) []byte {
	c := slices.Clone(x.c)
	t := x.tilesArgs
	t.a, t.b, t.c = &x.a[0], &x.b[0], &c[0]
	f(&t)
	return c
}

func bits(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func isNaN(bits uint32) bool { return bits&0x7fffffff > 0x7f800000 }

// bf16Draws fill operands, and C, with numbers of different kinds.
var bf16Draws = map[string]func(r *rand.Rand, x []byte){
	"normal": func(r *rand.Rand, x []byte) {
		for i := 0; i < len(x); i += 2 {
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(r.NormFloat64()))>>16))
		}
	},
	"wide": func(r *rand.Rand, x []byte) { // of any size that no sum overflows with
		for i := 0; i < len(x); i += 2 {
			v := math.Ldexp(r.NormFloat64(), r.IntN(120)-60)
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(v))>>16))
		}
	},
	"tiny": func(r *rand.Rand, x []byte) { // products about the smallest normal number
		for i := 0; i < len(x); i += 2 {
			v := math.Ldexp(r.NormFloat64(), -62-r.IntN(4))
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(v))>>16))
		}
	},
	"denormal": func(r *rand.Rand, x []byte) { // read as 0
		for i := 0; i < len(x); i += 2 {
			v := math.Ldexp(r.NormFloat64(), -124-r.IntN(8))
			if r.IntN(3) == 0 {
				v = r.NormFloat64()
			}
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(v))>>16))
		}
	},
	"boundary": func(r *rand.Rand, x []byte) { // sums that round to the smallest normal number, or below
		for i := 0; i < len(x); i += 2 {
			v := []float64{0x1p-63, 0x1p-75, 0x1p-76, 0x1.8p-76, 0x1p-77, 0, 0, 0}[r.IntN(8)] * float64(1-2*r.IntN(2))
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(v))>>16))
		}
	},
	"huge": func(r *rand.Rand, x []byte) { // sums and products that overflow
		for i := 0; i < len(x); i += 2 {
			v := math.Ldexp(r.NormFloat64(), 60+r.IntN(8))
			binary.LittleEndian.PutUint16(x[i:], uint16(math.Float32bits(float32(v))>>16))
		}
	},
	"any": func(r *rand.Rand, x []byte) { // all patterns, infinities and NaN with them
		for i := 0; i < len(x); i += 4 {
			binary.LittleEndian.PutUint32(x[i:], r.Uint32())
			if r.IntN(400) == 0 {
				special := []uint32{0x7f807f80, 0xff80ff80, 0x7fc07fc1, 0, 0x80008000, 0x7f7f7f7f, 0x00800080, 0x807f807f}
				binary.LittleEndian.PutUint32(x[i:], special[r.IntN(len(special))])
			}
		}
	},
}

// Tiles and plain Go give the same bits for every kind of number, in every layout.
func TestTilesBF16(t *testing.T) {
	if !hasTilesBF16 {
		t.Skip("no tiles of bfloat16 here")
	}
	for kind, draw := range bf16Draws {
		t.Run(kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(24, uint64(len(kind))))
			finite, all := 0, 0
			for trial := range 12 {
				x := newTilesCase(r, 1+r.IntN(4), 1+trial%3, 1+trial/3%3, trial%2 == 1, trial%4 > 1, func(v []byte) { draw(r, v) })
				got, want := x.run(multiplyBF16), x.run(tilesBF16Generic)
				for i := range len(got) / 4 {
					g, w := bits(got, i), bits(want, i)
					if g != w && !(isNaN(g) && isNaN(w)) {
						t.Fatalf("%+v: number %d is %x in tiles, %x in plain Go", x.tilesArgs, i, g, w)
					}
					all++
					if g&0x7f800000 != 0x7f800000 {
						finite++
					}
				}
			}
			t.Logf("%d of %d finite", finite, all)
			if finite == 0 || kind == "huge" && finite == all {
				t.Errorf("%d of %d numbers are finite", finite, all)
			}
		})
	}
}

func TestTilesBytes(t *testing.T) {
	if !hasTilesBytes {
		t.Skip("no tiles of bytes here")
	}
	r := rand.New(rand.NewPCG(24, 8))
	for trial := range 24 {
		x := newTilesCase(r, 1+r.IntN(4), 1+trial%3, 1+trial/3%3, trial%2 == 1, trial%4 > 1, func(v []byte) {
			for i := range v {
				v[i] = byte(r.Uint32())
			}
		})
		if got, want := x.run(multiplyBytes), x.run(tilesBytesGeneric); !bytes.Equal(got, want) {
			t.Fatalf("%+v: tiles differ from plain Go", x.tilesArgs)
		}
	}
}

// The twins against their definition: exact integers, and rounded sums in an order of their own.
func TestTilesGenericAgainstExactArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 9))
	x := newTilesCase(r, 2, 1, 2, true, true, func(v []byte) {
		for i := 0; i < len(v); i += 4 {
			binary.LittleEndian.PutUint32(v[i:], uint32(r.IntN(256)*0x01000000)>>8|uint32(r.IntN(1<<24))>>1)
		}
	})
	got := x.run(tilesBytesGeneric)
	for i := range 32 {
		for j := range 64 {
			want := int64(int32(bits(x.c, i*65+j)))
			for k := range 128 {
				a := int8(x.a[i*x.rsa+k])
				b := int8(x.b[j/32*x.panelb+k/4*128+j%32*4+k%4])
				want += int64(a) * int64(b)
			}
			if g := int32(bits(got, i*65+j)); int64(g) != want {
				t.Fatalf("bytes (%d, %d): %d, want %d", i, j, g, want)
			}
		}
	}
	x = newTilesCase(r, 3, 2, 2, true, false, func(v []byte) { bf16Draws["normal"](r, v) })
	got = x.run(tilesBF16Generic)
	for i := range 64 {
		for j := range 64 {
			want := float64(math.Float32frombits(bits(x.c, i*65+j)))
			size := math.Abs(want)
			for k := range 96 {
				at := i/32*x.stripa + k/32*x.nexta + i%32*x.rsa + 2*(k%32)
				a := math.Float32frombits(uint32(binary.LittleEndian.Uint16(x.a[at:])) << 16)
				at = j/32*x.panelb + k/2*128 + 4*(j%32) + 2*(k%2)
				b := math.Float32frombits(uint32(binary.LittleEndian.Uint16(x.b[at:])) << 16)
				want += float64(a) * float64(b)
				size += math.Abs(float64(a) * float64(b))
			}
			g := float64(math.Float32frombits(bits(got, i*65+j)))
			if !(math.Abs(g-want) <= 20*0x1p-24*size) {
				t.Fatalf("bfloat16 (%d, %d): %v, want %v", i, j, g, want)
			}
		}
	}
}

// A rounded sum of the twin against arithmetic of 300 bits.
func TestFMAFlush(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 10))
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(float64(x)) }
	for range 20000 {
		draw := func(mask uint32) float32 {
			e := uint32(1 + r.IntN(254))
			if r.IntN(2) == 0 {
				e = uint32(60 + r.IntN(8))
			}
			return math.Float32frombits((r.Uint32()&0x807fffff | e<<23) & mask)
		}
		x, y, s := draw(0xffff0000), draw(0xffff0000), draw(0xffffffff)
		if r.IntN(3) == 0 { // about half of the last place
			s = x * y * float32(int(1)<<r.IntN(30))
		}
		if s = flush(s); math.IsInf(float64(s), 0) {
			continue
		}
		sum := new(big.Float).SetPrec(300).Mul(exact(x), exact(y))
		sum.Add(sum, exact(s))
		rounded := new(big.Float).SetPrec(24).SetMode(big.ToNearestEven).Set(sum)
		want, _ := rounded.Float32()
		if a, _ := new(big.Float).Abs(rounded).Float64(); a < 0x1p-126 {
			want = 0
		}
		if got := fmaFlush(x, y, s); got != want {
			t.Fatalf("%x * %x + %x is %x, want %x", x, y, s, got, want)
		}
	}
}

func TestPeakTiles(t *testing.T) {
	for _, bytes := range []bool{false, true} {
		want := 0.0
		if bytes && hasTilesBytes {
			want = 3 * 16 * 2 * 16 * 16 * 64
		} else if !bytes && hasTilesBF16 {
			want = 3 * 16 * 2 * 16 * 16 * 32
		}
		if got := PeakTiles(bytes, 3); got != want || PeakTiles(bytes, 0) != 0 {
			t.Errorf("bytes %t: %v operations, want %v", bytes, got, want)
		}
	}
}
