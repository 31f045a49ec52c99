package noise

// GraphReport describes a pair graph: images are its nodes, pairs its edges.
type GraphReport struct {
	Scenario  string `json:"scenario"`
	Negatives string `json:"negatives"`
	Order     string `json:"order"`

	Nodes     int     `json:"nodes"`  // images that pairs were made of
	Images    int     `json:"images"` // those in at least one pair
	Pairs     int     `json:"pairs"`
	Similar   int     `json:"similar"`   // pairs by label
	Different int     `json:"different"` // pairs by label
	Density   float64 `json:"density"`   // pairs / (Images (Images-1)/2)
	DegreeMin int     `json:"degree_min"`
	// Pairs that an image is in, over the images that are in one.
	DegreeMean float64 `json:"degree_mean"`
	DegreeMax  int     `json:"degree_max"`

	Duplicates     int `json:"duplicates"`     // couples of images that are paired more than once
	Mirrored       int `json:"mirrored"`       // couples that were paired as different more than once, before pair noise
	Contradictions int `json:"contradictions"` // couples that are labelled both ways
	// Pairs labelled different whose images are joined by a path of similar ones. Each
	// closes a cycle that no set of classes can satisfy.
	InconsistentCycles int `json:"inconsistent_cycles"`

	Q              float64 `json:"q"`               // of the pair noise
	Wanted         float64 `json:"wanted"`          // the probability that pair noise flips a label, q/2
	Flipped        int     `json:"flipped"`         // by pair noise
	Wrong          int     `json:"wrong"`           // labels against the true classes
	WrongSimilar   int     `json:"wrong_similar"`   // of these, labelled similar
	WrongDifferent int     `json:"wrong_different"` // of these, labelled different
	Effective      float64 `json:"effective"`       // wrong/pairs

	// FloorDuplicates is the share of pairs that any function of two images gets wrong,
	// against the labels: for each couple the lesser of its labels, over all pairs.
	FloorDuplicates float64 `json:"floor_duplicates"`
}

// Noise is what the pair noise did, as a Report.
func (r GraphReport) Noise() Report {
	out := Report{Kind: PairLabel, Wanted: r.Wanted, Flipped: r.Flipped, Items: r.Pairs, Q: r.Q, Effective: r.Wanted, EffectiveFound: r.Effective}
	if r.Pairs > 0 {
		out.Found = float64(r.Flipped) / float64(r.Pairs)
	}
	return out
}

// describe fills the numbers that pairs tell; flipped says which pair noise has changed.
func (r *GraphReport) describe(pairs []Pair, flipped []bool, truth []int32) {
	r.Pairs = len(pairs)
	degree := make([]int, len(truth))
	for i, p := range pairs {
		degree[p.I]++
		degree[p.J]++
		if flipped[i] {
			r.Flipped++
		}
		wrong := p.Similar != (truth[p.I] == truth[p.J])
		switch {
		case p.Similar && wrong:
			r.WrongSimilar++
		case wrong:
			r.WrongDifferent++
		}
		if p.Similar {
			r.Similar++
		}
	}
	r.Different = r.Pairs - r.Similar
	r.Wrong = r.WrongSimilar + r.WrongDifferent
	r.degrees(degree)
	couples(pairs, func(at []int32) {
		different, built := 0, 0
		for _, i := range at {
			if !pairs[i].Similar {
				different++
			}
			if pairs[i].Similar == flipped[i] {
				built++
			}
		}
		if len(at) > 1 {
			r.Duplicates++
		}
		if built > 1 {
			r.Mirrored++
		}
		if different > 0 && different < len(at) {
			r.Contradictions++
		}
	})
	r.InconsistentCycles = inconsistent(pairs, len(truth))
	if r.Pairs > 0 {
		r.Effective = float64(r.Wrong) / float64(r.Pairs)
		r.FloorDuplicates = float64(FloorDuplicates(pairs)) / float64(r.Pairs)
	}
}

func (r *GraphReport) degrees(degree []int) {
	for _, d := range degree {
		if d == 0 {
			continue
		}
		if r.Images == 0 || d < r.DegreeMin {
			r.DegreeMin = d
		}
		r.DegreeMax = max(r.DegreeMax, d)
		r.Images++
	}
	if r.Images > 1 {
		n := float64(r.Images)
		r.DegreeMean = 2 * float64(r.Pairs) / n
		r.Density = float64(r.Pairs) / (n * (n - 1) / 2)
	}
}

// inconsistent counts the different pairs within one component of the similar ones.
func inconsistent(pairs []Pair, n int) int {
	parent := make([]int32, n)
	for i := range parent {
		parent[i] = int32(i)
	}
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, p := range pairs {
		if p.Similar {
			parent[root(p.I)] = root(p.J)
		}
	}
	count := 0
	for _, p := range pairs {
		if !p.Similar && root(p.I) == root(p.J) {
			count++
		}
	}
	return count
}
