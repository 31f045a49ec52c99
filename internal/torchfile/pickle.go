package torchfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Limits of one pickle. A state dictionary of 1,000 tensors makes about 20,000 values.
const (
	maxValues = 1 << 20 // made, and kept in the memo
	maxMarks  = 100     // open at a time: how deep values lie in each other
	maxText   = 1 << 16 // bytes of one text
)

// machine reads one pickle.
type machine struct {
	r        *bufio.Reader
	at       int64 // offset of the next byte in the pickle
	stack    []any
	marks    []int
	memo     map[uint32]any
	values   int
	storages map[string]*storage
}

// unpickle reads one object from r and returns how many bytes it took. Storages that it
// refers to are added to those given.
func unpickle(r *bufio.Reader, storages map[string]*storage) (object any, n int64, err error) {
	m := &machine{r: r, memo: map[uint32]any{}, storages: storages}
	for {
		op, err := m.byte()
		if err != nil {
			return nil, m.at, err
		}
		if op == '.' { // STOP
			v, err := m.pop()
			return v, m.at, err
		}
		if err := m.do(op); err != nil {
			return nil, m.at, err
		}
		if m.values > maxValues || len(m.memo) > maxValues {
			return nil, m.at, bad("it has more than %d values: more than a network's state has", maxValues)
		}
	}
}

// do follows one instruction.
func (m *machine) do(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := m.byte()
		if err == nil && v > 2 {
			err = bad("its pickle has protocol %d; PyTorch's default, 2, is read: save without pickle_protocol", v)
		}
		return err
	case 'N':
		return m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return m.push(op == 0x88)
	case 'K', 'M', 'J', 0x8a, 'G': // BININT1, BININT2, BININT, LONG1, BINFLOAT
		return m.number(op)
	case 'X', 'U': // BINUNICODE, SHORT_BINSTRING
		return m.text(op)
	case 'c':
		return m.global()
	case '(', ')', '}', ']': // MARK, EMPTY_TUPLE, EMPTY_DICT, EMPTY_LIST
		return m.empty(op)
	case 't', 0x85, 0x86, 0x87: // TUPLE, TUPLE1, TUPLE2, TUPLE3
		return m.tuple(op)
	case 'a', 'e', 's', 'u': // APPEND, APPENDS, SETITEM, SETITEMS
		return m.extend(op)
	case 'q', 'r', 'h', 'j': // BINPUT, LONG_BINPUT, BINGET, LONG_BINGET
		return m.remember(op)
	case 'Q', 'R', 'b': // BINPERSID, REDUCE, BUILD
		return m.build(op)
	}
	return bad("instruction 0x%02x at byte %d of its pickle is none that a dictionary of tensors needs; save state_dict()", op, m.at-1)
}

// byte returns the next byte.
func (m *machine) byte() (byte, error) {
	b, err := m.r.ReadByte()
	if err != nil {
		return 0, m.ended(err)
	}
	m.at++
	return b, nil
}

// bytes returns the next n bytes.
func (m *machine) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(m.r, b); err != nil {
		return nil, m.ended(err)
	}
	m.at += int64(n)
	return b, nil
}

// ended says that the pickle could not be read to its end.
func (m *machine) ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return bad("its pickle ends at byte %d: is the file truncated?", m.at)
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	m.values++
	return nil
}

// pop takes the value on top, which a mark protects.
func (m *machine) pop() (any, error) {
	low := 0
	if n := len(m.marks); n > 0 {
		low = m.marks[n-1]
	}
	if len(m.stack) <= low {
		return nil, bad("its pickle reads a missing value at byte %d", m.at-1)
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// toMark takes all values above the last mark, and the mark.
func (m *machine) toMark() ([]any, error) {
	n := len(m.marks)
	if n == 0 {
		return nil, bad("its pickle reads a missing mark at byte %d", m.at-1)
	}
	low := m.marks[n-1]
	out := append([]any(nil), m.stack[low:]...)
	m.stack, m.marks = m.stack[:low], m.marks[:n-1]
	return out, nil
}

// number pushes a whole number or a fraction.
func (m *machine) number(op byte) error {
	width := map[byte]int{'K': 1, 'M': 2, 'J': 4, 'G': 8}[op]
	if op == 0x8a {
		n, err := m.byte()
		if err != nil {
			return err
		}
		width = int(n)
	}
	b, err := m.bytes(width)
	if err != nil {
		return err
	}
	switch {
	case op == 'G':
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case width > 8:
		return m.push(long(b))
	}
	var n uint64
	for i, x := range b {
		n |= uint64(x) << (8 * i)
	}
	if signed := op == 'J' || op == 0x8a; signed && width > 0 {
		gap := 64 - 8*width
		return m.push(int64(n<<gap) >> gap)
	}
	return m.push(int64(n))
}

// text pushes a text.
func (m *machine) text(op byte) error {
	width := 4
	if op == 'U' {
		width = 1
	}
	b, err := m.bytes(width)
	if err != nil {
		return err
	}
	n := uint32(b[0])
	if op == 'X' {
		n = binary.LittleEndian.Uint32(b)
	}
	if n > maxText {
		return bad("it has a text of %d bytes at byte %d of its pickle; at most %d are read", n, m.at, maxText)
	}
	if b, err = m.bytes(int(n)); err != nil {
		return err
	}
	return m.push(string(b))
}

// global pushes a name, which must be a known one.
func (m *machine) global() error {
	var parts [2]string
	for i := range parts {
		var line strings.Builder
		for {
			b, err := m.byte()
			if err != nil {
				return err
			}
			if b == '\n' {
				break
			}
			if line.Len() > 1000 {
				return bad("a name at byte %d of its pickle has no end", m.at)
			}
			line.WriteByte(b)
		}
		parts[i] = line.String()
	}
	g := global(parts[0] + "." + parts[1])
	if !known(g) {
		return bad("it needs %s, which is not read: nothing of a file is run; save state_dict() only, or convert it to safetensors", short(string(g)))
	}
	return m.push(g)
}

// empty opens a mark or pushes an empty value.
func (m *machine) empty(op byte) error {
	switch op {
	case ')':
		return m.push(tuple{})
	case '}':
		return m.push(&dict{})
	case ']':
		return m.push(&list{})
	}
	if m.marks = append(m.marks, len(m.stack)); len(m.marks) > maxMarks {
		return bad("its values lie deeper in each other than %d", maxMarks)
	}
	return nil
}

// tuple makes a tuple of the values above the mark, or of the last 1 to 3.
func (m *machine) tuple(op byte) error {
	if op == 't' {
		items, err := m.toMark()
		if err != nil {
			return err
		}
		return m.push(tuple(items))
	}
	t := make(tuple, op-0x84)
	for i := len(t) - 1; i >= 0; i-- {
		v, err := m.pop()
		if err != nil {
			return err
		}
		t[i] = v
	}
	return m.push(t)
}

// extend adds values to the list or dictionary below them.
func (m *machine) extend(op byte) (err error) {
	var items []any
	switch op {
	case 'e', 'u':
		items, err = m.toMark()
	case 'a', 's':
		n := map[byte]int{'a': 1, 's': 2}[op]
		items = make([]any, n)
		for i := n - 1; i >= 0 && err == nil; i-- {
			items[i], err = m.pop()
		}
	}
	if err != nil {
		return err
	}
	to, err := m.pop()
	if err != nil {
		return err
	}
	switch to := to.(type) {
	case *list:
		if op == 'a' || op == 'e' {
			to.items = append(to.items, items...)
			m.values += len(items)
			return m.push(to)
		}
	case *dict:
		if (op == 's' || op == 'u') && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				to.set(items[i], items[i+1])
			}
			m.values += len(items)
			return m.push(to)
		}
	}
	return bad("its pickle adds to %s at byte %d", kindOf(to), m.at-1)
}

// remember puts the value on top into the memo, or pushes one from there.
func (m *machine) remember(op byte) error {
	width := 1
	if op == 'r' || op == 'j' {
		width = 4
	}
	b, err := m.bytes(width)
	if err != nil {
		return err
	}
	n := uint32(b[0])
	if width == 4 {
		n = binary.LittleEndian.Uint32(b)
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[n]
		if !ok {
			return bad("its pickle refers to a missing value at byte %d", m.at)
		}
		return m.push(v)
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	m.memo[n] = v
	m.stack = append(m.stack, v)
	return nil
}

// build makes a storage of a persistent id, calls a name, or sets the attributes of a
// dictionary, which do not describe tensors.
func (m *machine) build(op byte) error {
	args, err := m.pop()
	if err != nil {
		return err
	}
	if op == 'Q' {
		s, err := newStorage(args, m.storages)
		if err != nil {
			return err
		}
		return m.push(s)
	}
	to, err := m.pop()
	if err != nil {
		return err
	}
	if op == 'b' {
		if _, ok := to.(*dict); !ok {
			return bad("its pickle sets attributes of %s at byte %d", kindOf(to), m.at-1)
		}
		return m.push(to)
	}
	g, isName := to.(global)
	t, isTuple := args.(tuple)
	if !isName || !isTuple {
		return bad("its pickle calls %s at byte %d", kindOf(to), m.at-1)
	}
	v, err := call(g, t)
	if err != nil {
		return err
	}
	return m.push(v)
}
