package wire

import (
	"tercet/internal/config"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
)

// BuildDefense makes the defense of cfg for images of that side in pixels, batches
// of the sampler's layout and the loss obj.
func BuildDefense(cfg *config.Config, side int, layout string, obj loss.Objective) (adversary.Defense, error) {
	return cfg.Defense.Options.New(adversary.Setting{Side: side, Margin: obj.Margin(), Miner: minerName(cfg), Mine: mineOptions(cfg, layout, obj)})
}

// AtMost returns cfg with a defense that saves nothing: what it saves depends on the
// network, and a plan has none.
func AtMost(cfg *config.Config) *config.Config {
	o, ok := cfg.Defense.Options.(adversary.Saving)
	if !ok {
		return cfg
	}
	c := *cfg
	c.Defense.Options = o.AtMost()
	return &c
}
