package nn

import (
	"cmp"
	"fmt"

	"tercet/internal/component"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "cnn", Doc: "three convolution blocks and a linear layer (DIBS)", Defaults: CNNKeys{Width: 47, Filters: "paper-count", FC: "k"}})
}

// CNNKeys are the keys of cnn.
type CNNKeys struct {
	Width   int    `yaml:"width" check:">=1,<=8192" doc:"k, filters of the first convolution"`
	Filters string `yaml:"filters" enum:"paper-count|paper-text" doc:"filters of the three blocks: k,2k,4k fits the paper's parameter count, k,2k,2k its text"`
	FC      string `yaml:"fc" enum:"k|2k" doc:"number of units of the last layer if embedding is 0"`
}

func (CNNKeys) options() []string { return []string{"units", "filters", "fc"} }

// Set implements Setter.
func (k CNNKeys) Set(s *Spec) {
	s.Units, s.Filters = k.Width, k.Filters
	if s.Embedding == 0 {
		s.FC = k.FC
	}
}

// layers returns the network of DIBS (Fonseca & Guidetti): three blocks conv3x3 (stride
// 1, pad 1, bias) - batch norm - ReLU - maxpool and a fully connected embedding.
//
// The paper's text and its parameter count disagree, so there are two layouts:
//
//   - paper-count: filters [k, 2k, 4k], final map 2x2, FC 16k -> k: the only
//     plausible network with the paper's 235,611 parameters at k = 47. Images of
//     25 to 32 pixels are zero-padded to 32, and pools are the paper's 1, 2, 8.
//   - paper-text: filters [k, 2k, 2k] as written, pools 1, 2, 8 without padding
//     (on 28x28 the map is 1x1: 129,344 parameters at k = 47), FC -> 2k.
//
// Other image sizes end in a 2x2 map: the first pool is the power of two that
// brings the longer side to 56 or less, the second is 2, and the last takes the
// maximum over each quarter of the map (quarters overlap by one row or column
// where a side is odd, as in adaptive pooling).
func (CNNKeys) layers(s *Spec) ([]Layer, error) {
	if s.FC != "" && s.Embedding != 0 {
		return nil, fmt.Errorf("fc %s and embedding %d both set the embedding's dimension: give one", s.FC, s.Embedding)
	}
	if err := choose("filters", &s.Filters, "paper-count", "paper-count", "paper-text"); err != nil {
		return nil, err
	}
	s.Units = cmp.Or(s.Units, 47)
	k, last, fc := s.Units, 4*s.Units, "k"
	if s.Filters == "paper-text" {
		last, fc = 2*k, "2k"
	}
	if s.Embedding == 0 {
		if err := choose("fc", &s.FC, fc, "k", "2k"); err != nil {
			return nil, err
		}
		s.Embedding = k
		if s.FC == "2k" {
			s.Embedding = 2 * k
		}
		s.FC = "" // the dimension says it
	}
	var layers []Layer
	h, w := s.Height, s.Width
	if s.Filters == "paper-count" && inRange(h, 25, 32) && inRange(w, 25, 32) && min(h, w) < 32 {
		h, w = 32, 32
		layers = append(layers, NewPad2D("pad", h, w))
	}
	block := func(n string, filters int) {
		layers = append(layers, NewConv2D("conv"+n, filters, 3, 1, 1, true), NewBatchNorm2D("bn"+n), NewReLU("relu"+n))
	}
	block("1", k)
	if p := firstPool(max(h, w)); p > 1 {
		layers = append(layers, NewMaxPool("pool1", p, p, 0))
		h, w = h/p, w/p
	}
	block("2", 2*k)
	if min(h, w) >= 4 {
		layers = append(layers, NewMaxPool("pool2", 2, 2, 0))
		h, w = h/2, w/2
	}
	block("3", last)
	if s.Filters == "paper-text" && inRange(h, 8, 16) && inRange(w, 8, 16) {
		layers = append(layers, NewMaxPool("pool3", 8, 8, 0))
	} else {
		layers = append(layers, NewMaxPoolRect("pool3", halfUp(h), halfUp(w), max(h/2, 1), max(w/2, 1), 0, 0))
	}
	return append(layers, NewFlatten("flatten"), NewLinear("fc", s.Embedding, true)), nil
}

func inRange(n, low, top int) bool { return n >= low && n <= top }

// halfUp returns n/2 rounded up: with stride n/2 rounded down two windows of that
// size cover n exactly.
func halfUp(n int) int { return (n + 1) / 2 }

// firstPool returns the power of two that brings side to 56 or less.
func firstPool(side int) int {
	p := 1
	for side/p > 56 {
		p *= 2
	}
	return p
}
