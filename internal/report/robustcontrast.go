package report

// NoiseContrast sets one noise-robust loss against another at the same noise.
type NoiseContrast struct {
	Data        string              `json:"data"`
	Setting     string              `json:"setting,omitempty"`
	Noise       string              `json:"noise"`
	Rate        float64             `json:"rate"`
	Name        string              `json:"name"`
	Against     string              `json:"against"`
	Differences map[string]Estimate `json:"differences"` // name - against, seed by seed
	Verdicts    map[string]string   `json:"verdicts"`    // for name

	of *NoiseRow
}

// contrast fills Contrasts of a comparison of losses.
func (s *NoiseStudy) contrast() {
	if len(s.kind.sections) != 1 {
		return // of defences too
	}
	for _, a := range s.Rows {
		for _, b := range s.Rows {
			if a.Data != b.Data || a.Setting != b.Setting || a.Noise != b.Noise || a.Rate != b.Rate || !a.contrasts(b) {
				continue
			}
			c := NoiseContrast{Data: a.Data, Setting: a.Setting, Noise: a.Noise, Rate: a.Rate, Name: a.Name, Against: b.Name, of: a}
			if c.Differences, c.Verdicts = a.less(b, s.Scores); len(c.Differences) > 0 {
				s.Contrasts = append(s.Contrasts, c)
			}
		}
	}
}

// contrasts says whether rows differ in their weights, joint against product, or in
// where their noise is from, found against known, and in nothing else.
func (row *NoiseRow) contrasts(other *NoiseRow) bool {
	a, b := row.runs[0], other.runs[0]
	if !a.is("loss.name", "triplet-robust") || !b.is("loss.name", "triplet-robust") {
		return false
	}
	value := func(r *RunDir, key string) string {
		v, _ := r.label(key)
		return Label{key, v}.setting()
	}
	for _, key := range []string{"loss.form", "loss.margin", "loss.distance", "loss.rho", "loss.beta", "loss.gamma", "loss.rescale", "loss.temperature"} {
		if value(a, key) != value(b, key) {
			return false
		}
	}
	weights := value(a, "loss.weights") == value(b, "loss.weights")
	from := value(a, "loss.noise_from") == value(b, "loss.noise_from")
	switch {
	case !weights && from:
		return a.is("loss.weights", "joint")
	case weights && !from:
		return value(a, "loss.noise_from") == "found"
	}
	return false
}

// row is the contrast as a line of the table of rows.
func (c *NoiseContrast) row() *NoiseRow {
	return &NoiseRow{Data: c.Data, Setting: c.Setting, Noise: c.Noise, Rate: c.Rate, Effective: c.of.Effective, Name: c.Name + " - " + c.Against,
		N: largestN(c.Differences), Differences: c.Differences, Verdicts: c.Verdicts}
}

func largestN(scores map[string]Estimate) int {
	n := 0
	for _, e := range scores {
		n = max(n, e.N)
	}
	return n
}
