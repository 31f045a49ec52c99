package wire

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// Pretrained is the network of cfg for images of shape (height, width, channels), with all
// of its weights from the file that cfg names: none of them is drawn.
func Pretrained(cfg *config.Config, shape [3]int) (*nn.Model, *record.StartWeights, error) {
	if cfg.Model.Weights == "" {
		return nil, nil, &config.Error{Key: "model.weights", Msg: "name the file of the weights; without a run, a network is not drawn"}
	}
	s := modelSpec(cfg, nil)
	s.Height, s.Width, s.Channels = shape[0], shape[1], shape[2]
	m, start, err := startModel(cfg, s)
	if err != nil {
		return nil, nil, err
	}
	drawn := slices.Concat(start.OtherShape, start.Missing)
	drawn = slices.DeleteFunc(drawn, func(name string) bool { return strings.HasPrefix(name, "mean_std.") }) // the config says them
	if len(drawn) > 0 {
		return nil, nil, &config.Error{Key: "model.weights", Msg: fmt.Sprintf("%s has not all of the network: %s would be drawn; model.head: none leaves the last linear layer out", start.File, drawn[0])}
	}
	return m, start, nil
}
