package npy

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"tercet/internal/data/fault"
	"tercet/internal/data/file"
)

// readArrayLabels reads N labels, shape (N) or (N, 1), of any integer type, or of text
// of fixed width: U (numpy's str) or S (bytes).
func readArrayLabels(r io.Reader, size int64, path string, w wish) (*values, error) {
	h, err := readHeader(r, size, path)
	if err != nil {
		return nil, err
	}
	if ok := len(h.shape) == 1 || (len(h.shape) == 2 && h.shape[1] == 1); !ok || h.count == 0 {
		return nil, fault.Bad("%s: labels have shape %v; want (N,) with N at least 1", path, h.shape)
	}
	if err := w.check(path, h.count); err != nil {
		return nil, err
	}
	if int64(h.count) > file.MaxBytes()/4 {
		return nil, fault.Bad("%s: %d labels; at most %d are read", path, h.count, file.MaxBytes()/4)
	}
	out := &values{ids: make([]int32, h.count)}
	number := h.number()
	switch {
	case number.Width() > 0 && !number.Real():
		err = ints(r, h, path, out)
	case h.kind[0] == 'U' || h.kind[0] == 'S':
		err = words(r, h, path, out)
	default:
		err = fault.Bad("%s: labels are %s; want integers (numpy: y.astype('int64')) or text (y.astype('U'))", path, h.descr)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func ints(r io.Reader, h *header, path string, out *values) error {
	var seen interner[int64]
	number := h.number()
	err := h.each(r, path, func(k int, raw []byte) error {
		x, ok := number.Int(raw, 0)
		if !ok {
			return fault.Bad("%s: label %d is %d; at most %d is read", path, k, uint64(x), int64(math.MaxInt64))
		}
		id, err := seen.id(x, path)
		out.ids[k] = id
		return err
	})
	out.ints = seen.list
	return err
}

// words reads labels of text. numpy fills what is shorter than the width with NULs.
func words(r io.Reader, h *header, path string, out *values) error {
	order := h.number().Order
	var seen interner[string]
	var text []byte
	err := h.each(r, path, func(k int, item []byte) error {
		if text = append(text[:0], item...); h.kind[0] == 'U' {
			text = text[:0]
			for i := 0; i < len(item); i += 4 {
				c := order.Uint32(item[i:])
				if c > utf8.MaxRune {
					return fault.Bad("%s: label %d: %#x is not a character", path, k, c)
				}
				text = utf8.AppendRune(text, rune(c))
			}
		}
		v := strings.TrimSpace(strings.TrimRight(string(text), "\x00"))
		if err := checkLabel(v, fmt.Sprintf("%s: label %d", path, k)); err != nil {
			return err
		}
		id, err := seen.id(v, path)
		out.ids[k] = id
		return err
	})
	out.text = seen.list
	return err
}
