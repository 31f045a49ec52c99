package nn

import "fmt"

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
