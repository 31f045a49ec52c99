package nn

import (
	"cmp"
	"fmt"
)

// headLayers returns what turns the last map, of that many channels, into the
// embedding, as s.Pool (empty: avg) and s.Head say.
func headLayers(s *Spec, features int) ([]Layer, error) {
	pool := cmp.Or(s.Pool, "avg")
	if err := choose("pool", &pool, "", "avg", "max", "avg+max"); err != nil {
		return nil, err
	}
	head, err := headAfter(s, features)
	return append([]Layer{NewGlobalPool(pool)}, head...), err
}

// headAfter returns what turns so many features into the embedding, as s.Head (empty:
// linear) says, and fills in s.Embedding: 512 where a linear layer makes it, else the
// number of features.
func headAfter(s *Spec, features int) ([]Layer, error) {
	head := cmp.Or(s.Head, "linear")
	if err := choose("head", &head, "", "linear", "layernorm", "layernorm-linear", "none"); err != nil {
		return nil, err
	}
	var layers []Layer
	if head == "layernorm" || head == "layernorm-linear" {
		layers = append(layers, NewLayerNorm("layernorm", LayerNormEps, false))
	}
	if head == "linear" || head == "layernorm-linear" {
		s.Embedding = cmp.Or(s.Embedding, 512)
		return append(layers, NewLinear("fc", s.Embedding, true)), nil
	}
	if s.Embedding != 0 && s.Embedding != features {
		return nil, fmt.Errorf("head %s gives the %d features as they are, not an embedding of %d: set embedding to 0 or %d, or head to linear", head, features, s.Embedding, features)
	}
	s.Embedding = features
	return layers, nil
}

// head returns the index of the network's last linear layer, -1 where other layers with
// parameters come after it or there is none.
func (m *Model) head() int {
	for i := len(m.net.layers) - 1; i >= 0; i-- {
		if CountParams(m.net.layers[i].Params()) > 0 {
			if _, ok := m.net.layers[i].(*Linear); ok {
				return i
			}
			break
		}
	}
	return -1
}

// Parts returns the trained parameters of the head, the last linear layer, and those of
// all other layers, the trunk. It is an error where the network does not end in a
// linear layer.
func (m *Model) Parts() (trunk, head []*Param, err error) {
	at := m.head()
	if at < 0 {
		return nil, nil, fmt.Errorf("model %s does not end in a linear layer that is trained", m.spec.Name)
	}
	for i, l := range m.net.layers {
		for _, p := range l.Params() {
			switch {
			case !p.Trained():
			case i == at:
				head = append(head, p)
			default:
				trunk = append(trunk, p)
			}
		}
	}
	return trunk, head, nil
}

// TrainHead makes Backward with Weights alone stop at the head, so that other layers get
// no gradients, until TrainHead(false). It does nothing to a network without a head.
func (m *Model) TrainHead(alone bool) {
	if m.alone == alone {
		return
	}
	m.alone = alone
	m.net.first = m.net.firstTrained()
	if at := m.head(); alone && at >= 0 {
		m.net.first = at
	}
}

// FreezeBatchNorm makes weight and bias of all batch norms buffers, which are saved and
// not trained.
func (m *Model) FreezeBatchNorm() {
	walk(m.net, func(l Layer) {
		if bn, ok := l.(*BatchNorm2D); ok {
			bn.weight.Grad, bn.bias.Grad = nil, nil
		}
	})
}
