package export

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/nn"
)

// Every exported file is read back by the protobuf reader of this test and run in
// float64, operation by operation as ONNX defines them, on images in ONNX's order.
func TestONNXFilesGiveTheEmbeddings(t *testing.T) {
	t.Parallel()
	for name, spec := range specs() {
		m := build(t, spec)
		var b bytes.Buffer
		if err := ONNX(&b, m, about); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		model := fieldsOf(t, b.Bytes())
		if model.number(t, 1) != 8 || fieldsOf(t, model.one(t, 8)).number(t, 2) != 13 {
			t.Errorf("%s: another version", name)
		}
		g := readGraph(t, model.one(t, 7))
		if want := "images[N " + strings.Trim(strings.Join(words(spec.Channels, spec.Height, spec.Width), " "), " ") + "]"; g.input != want {
			t.Errorf("%s: input %s, want %s", name, g.input, want)
		}
		for _, s := range StateDict(m) { // every weight of PyTorch's, to the bit
			got := g.values[s.Name]
			if s.Integers {
				continue
			}
			if got == nil || len(got.data) != len(s.Data) {
				t.Fatalf("%s: no %s", name, s.Name)
			}
			for i, v := range s.Data {
				if float32(got.data[i]) != v {
					t.Fatalf("%s: %s[%d] differs", name, s.Name, i)
				}
			}
		}
		x := images(spec, 2)
		z := m.Embed(x, nn.Eval)
		in := &tensor{shape: []int{2, spec.Channels, spec.Height, spec.Width}}
		for n := range 2 {
			for c := range spec.Channels {
				for at := range spec.Height * spec.Width {
					in.data = append(in.data, float64(x.Data[(n*spec.Height*spec.Width+at)*spec.Channels+c]))
				}
			}
		}
		g.values["images"] = in
		for _, n := range g.nodes {
			g.run(t, n)
		}
		out := g.values["embeddings"]
		if out == nil || len(out.data) != len(z.Data) || out.shape[0] != 2 {
			t.Fatalf("%s: embeddings %+v", name, out)
		}
		most := 0.0
		for _, v := range out.data {
			most = max(most, math.Abs(v))
		}
		for i, v := range out.data {
			if d := math.Abs(v - float64(z.Data[i])); !(d <= 2e-5*most) {
				t.Errorf("%s: embedding %d is %g, want %g", name, i, v, z.Data[i])
				break
			}
		}
	}
}

// field is one of a protobuf message.
type field struct {
	number int
	value  uint64
	bytes  []byte
}

type fields []field

// fieldsOf reads a message.
func fieldsOf(t *testing.T, b []byte) (out fields) {
	t.Helper()
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatal("a message ends within a number")
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		key := next()
		f := field{number: int(key >> 3)}
		switch key & 7 {
		case 0:
			f.value = next()
		case 2:
			n := next()
			f.bytes, b = b[:n:n], b[n:]
		case 5:
			f.value, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			t.Fatalf("a field of kind %d", key&7)
		}
		out = append(out, f)
	}
	return out
}

func (l fields) all(number int) (out [][]byte) {
	for _, f := range l {
		if f.number == number {
			out = append(out, f.bytes)
		}
	}
	return out
}

func (l fields) one(t *testing.T, number int) []byte {
	t.Helper()
	all := l.all(number)
	if len(all) != 1 {
		t.Fatalf("field %d is there %d times", number, len(all))
	}
	return all[0]
}

func (l fields) numbers(number int) (out []int) {
	for _, f := range l {
		if f.number == number {
			out = append(out, int(f.value))
		}
	}
	return out
}

func (l fields) number(t *testing.T, number int) int {
	t.Helper()
	return l.numbers(number)[0]
}

// tensor is an array of float64, row-major.
type tensor struct {
	shape []int
	data  []float64
}

// node is an operation; its attributes are lists of numbers.
type node struct {
	kind       string
	in, out    []string
	attributes map[string][]float64
}

type onnxFile struct {
	values map[string]*tensor
	nodes  []node
	input  string
}

func readGraph(t *testing.T, b []byte) *onnxFile {
	t.Helper()
	f := fieldsOf(t, b)
	g := &onnxFile{values: map[string]*tensor{}}
	for _, w := range f.all(5) {
		p := fieldsOf(t, w)
		x := &tensor{shape: p.numbers(1)}
		raw := p.one(t, 9)
		if p.number(t, 2) == 1 {
			for i := 0; i < len(raw); i += 4 {
				x.data = append(x.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))))
			}
		} else {
			for i := 0; i < len(raw); i += 8 {
				x.data = append(x.data, float64(int64(binary.LittleEndian.Uint64(raw[i:]))))
			}
		}
		if len(x.data) != count(x.shape) {
			t.Fatalf("%s has shape %v and %d numbers", p.one(t, 8), x.shape, len(x.data))
		}
		g.values[string(p.one(t, 8))] = x
	}
	for _, n := range f.all(1) {
		p := fieldsOf(t, n)
		o := node{kind: string(p.one(t, 4)), attributes: map[string][]float64{}}
		for _, s := range p.all(1) {
			o.in = append(o.in, string(s))
		}
		for _, s := range p.all(2) {
			o.out = append(o.out, string(s))
		}
		for _, a := range p.all(5) {
			q := fieldsOf(t, a)
			var v []float64
			switch q.number(t, 20) {
			case 1:
				v = []float64{float64(math.Float32frombits(uint32(q.number(t, 2))))}
			case 2:
				v = []float64{float64(q.number(t, 3))}
			case 7:
				for _, n := range q.numbers(8) {
					v = append(v, float64(n))
				}
			}
			o.attributes[string(q.one(t, 1))] = v
		}
		g.nodes = append(g.nodes, o)
	}
	info := fieldsOf(t, f.one(t, 11))
	kind := fieldsOf(t, fieldsOf(t, info.one(t, 2)).one(t, 1))
	var dims []string
	for _, d := range fieldsOf(t, kind.one(t, 2)).all(1) {
		if q := fieldsOf(t, d); len(q.all(2)) > 0 && q[0].number == 2 {
			dims = append(dims, string(q.one(t, 2)))
		} else {
			dims = append(dims, words(q.number(t, 1))...)
		}
	}
	g.input = string(info.one(t, 1)) + "[" + strings.Join(dims, " ") + "]"
	return g
}
