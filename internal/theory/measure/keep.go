package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
)

// Keeper keeps the results of settings, so that a measurement that was interrupted continues
// with the first one that is not there, to the same bits.
type Keeper interface {
	// Load reads the result of that key into v and says whether there is one.
	Load(key string, v any) bool
	// Store keeps a result, which took so many seconds.
	Store(key string, v any, seconds float64) error
}

// recall returns the result that is kept under the key, or makes and keeps it. Without a
// keeper or a key it is made.
func recall[R any](k Keeper, key string, make func() (*R, error)) (*R, error) {
	if k == nil || key == "" {
		return make()
	}
	r := new(R)
	if k.Load(key, r) {
		return r, nil
	}
	began := time.Now()
	r, err := make()
	if err != nil {
		return nil, err
	}
	return r, k.Store(key, r, time.Since(began).Seconds())
}

// made is part of every key: another number makes all that is kept be measured again.
const made = 1

// key names all that a result depends on; empty for a source that cannot tell its points
// from others.
func key(what string, s Source, options any) string {
	f, ok := s.(interface{ Fingerprint() string })
	if !ok {
		return ""
	}
	// Sizes and scales were types of this package when the first results were kept.
	words := strings.ReplaceAll(fmt.Sprintf("%#v", options), "record.", "measure.")
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s", made, what, f.Fingerprint(), words))
	return what + "-" + hex.EncodeToString(sum[:12])
}

func (o UniformOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("uniform", s, o)
}

func (o GapOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("gap", s, o)
}

func (o OnAverageOptions) key() string {
	s := o.Source
	o.Source = nil
	return key("on-average", s, o)
}

// Fingerprint tells the pool's points, in their order, from any others.
func (p *Pool) Fingerprint() string {
	h := sha256.New()
	var b [8]byte
	add := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	lists := [][]float64{{float64(p.d), p.radius}, p.pos, p.neg}
	if p.reference != nil {
		lists = append(lists, p.reference.Positive, p.reference.Negative)
	}
	for _, l := range lists {
		add(uint64(len(l)))
		for _, v := range l {
			add(math.Float64bits(v))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fingerprint is the same for all circles.
func (Circle) Fingerprint() string { return "circle" }
