package wire

import (
	"errors"
	"fmt"
	"math"
	"os"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/loss"
	"tercet/internal/noise"
	"tercet/internal/option"
	"tercet/internal/record"
)

// faint is the contrast below which a run is told how little is left to learn from.
const faint = 0.2

// RobustWeights returns the weights of a loss that knows how probable wrong triplets are: those of the config, or those
// that follow from the noise in force or found in a file; nil for another loss.
func RobustWeights(cfg *config.Config, sets *Sets) (*record.TripletProbabilities, error) {
	aware, ok := cfg.Loss.Options.(loss.NoiseAware)
	if !ok {
		return nil, nil
	}
	o := aware.Odds()
	r := &record.TripletProbabilities{From: "config"}
	var err error
	switch {
	case o.Rho != nil:
		r.TripletWeights = noise.OrderFlips(*o.Rho)
	case o.Beta.Given:
		r.TripletWeights = noise.Product(record.TripletWeights{Beta: o.Beta.N, Gamma: o.Gamma.N})
	case o.NoiseFrom != "":
		r.From = o.NoiseFrom
		r.TripletWeights, err = foundWeights(o.NoiseFrom, ClassesOf(sets), cfg.Noise.Kind == noise.PairLabel)
	default:
		r.From = "noise"
		r.TripletWeights, err = noiseWeights(cfg, ClassesOf(sets))
	}
	if err != nil {
		return nil, err
	}
	w := r.TripletWeights
	if o.Product && o.Rho == nil {
		w = noise.Product(w)
	}
	r.W1, r.W2, r.Contrast = w.W11, w.W00, w.W11-w.W00
	if math.IsNaN(r.Contrast) {
		return nil, errors.New("beta: auto does not follow from this noise; set beta and gamma")
	}
	if !(r.Contrast > 1e-9) {
		return nil, fmt.Errorf("beta + gamma - 1 is %.4g for the noise in force (%s): at 0 triplets carry no information about classes, below it the opposite of what they seem to; lower the noise", r.Contrast, r.From)
	}
	return r, nil
}

// noiseWeights are those of triplets that are drawn by labels with the noise of cfg.
func noiseWeights(cfg *config.Config, classes int) (record.TripletWeights, error) {
	if o, ok := cfg.Noise.Options.(noise.Weighted); ok {
		return o.TripletWeights(classes)
	}
	return record.TripletWeights{}, fmt.Errorf("beta: auto does not follow from noise %s; set beta and gamma, or noise_from", cfg.Noise.Kind)
}

// ClassesOf is the number of classes that are trained on.
func ClassesOf(s *Sets) int { return len(data.Compact(s.Train).Classes()) }

// WeightsWords is the record in one line.
func WeightsWords(r *record.TripletProbabilities) string {
	s := fmt.Sprintf("right with probability %.4f, reversed with %.4f (beta %.4f, gamma %.4f, from %s); contrast %.4f", r.W1, r.W2, r.Beta, r.Gamma, r.From, r.Contrast)
	if r.Contrast < faint {
		s += ": little is left to learn from"
	}
	return s
}

// foundWeights are those of triplets drawn by labels with the noise that a noise.json
// has found. Noise found on pairs is taken for that of labels which makes as many pairs
// wrong, unless the triplets are made of such pairs.
func foundWeights(path string, classes int, made bool) (record.TripletWeights, error) {
	var w record.TripletWeights
	d, err := record.Read[record.NoiseRate](path)
	if errors.Is(err, os.ErrNotExist) {
		return w, fmt.Errorf("noise_from: %s not found; tercet noise %s RUN writes RUN/noise.json", path, option.Name("run"))
	}
	if err != nil {
		return w, fmt.Errorf("noise_from: %w", err)
	}
	p := d.Estimate.P
	switch d.Of {
	case record.OfTriplets:
		return noise.OrderFlips(p), nil
	case record.OfLabels:
		return noise.SLNTriplets(noise.SLNFromRate(p, classes), classes), nil
	case record.OfPairs:
		if made {
			return noise.PLNTriplets(p, 0.5), nil
		}
		q, err := noise.SLNFromEffective(p)
		return noise.SLNTriplets(q, classes), err
	}
	return w, fmt.Errorf("noise_from: %s: the rate is of %q; want labels, pairs or triplets", path, d.Of)
}
