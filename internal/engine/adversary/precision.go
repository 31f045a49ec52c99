package adversary

import (
	"fmt"

	"tercet/internal/engine/nn"
)

// Precision names the numbers that crafting multiplies.
type Precision string

const (
	Float32 Precision = "float32" // as in training; also ""
	// BF16 rounds activations and weights to bfloat16 and adds up in float32: see nn.BF16.
	BF16 Precision = "bf16"
)

// precise is the network that a PGD with precision bf16 crafts with.
type precise struct {
	model *nn.Model
	bf16  *nn.BF16
}

// Binds reports whether Bind looks into the network.
func (p *PGD) Binds() bool { return p.Precision == BF16 }

// Bind returns why m cannot craft with the precision of p.
func (p *PGD) Bind(m *nn.Model) error {
	if p.Precision != BF16 || p.precise.model == m {
		return nil
	}
	b, err := m.BF16()
	if err != nil {
		return fmt.Errorf("pgd.precision: bf16: %w", err)
	}
	p.precise = precise{m, b}
	return nil
}

// embedder returns what crafts with the weights that model has now.
func (p *PGD) embedder(model nn.Embedder) (nn.Embedder, error) {
	if p.Precision != BF16 {
		return model, nil
	}
	m, ok := model.(*nn.Model)
	if !ok || m.Engine() != nil {
		return nil, fmt.Errorf("pgd: bfloat16 needs a network on the processor, without shards")
	}
	if err := p.Bind(m); err != nil {
		return nil, err
	}
	p.precise.bf16.Refresh()
	return p.precise.bf16, nil
}
