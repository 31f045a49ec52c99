package record

// InfluenceDoc is influence.json, schema tercet.influence/1: how far single training
// images move a network that goes on training from a checkpoint, once as it is and once
// with the image replaced by another of its class.
type Influence struct {
	Schema  string            `json:"schema"`
	Source  Source            `json:"source"` // the images that are judged on; the checkpoint gone on from
	Options InfluenceOptions  `json:"options"`
	Loss    string            `json:"loss"`
	Of      string            `json:"of"`     // see LossGap
	Images  []InfluenceRecord `json:"images"` // the most moving first, by mean cosine
	// Drifted is how far the network itself has moved in these steps.
	Drifted  Movement   `json:"drifted"`
	Warnings []string   `json:"warnings,omitempty"`
	Cost     CostRecord `json:"cost"` // of all trainings on, kept ones too
}

// InfluenceOptions are those of InfluenceDoc.
type InfluenceOptions struct {
	Steps    int    `json:"steps"`
	Repeats  int    `json:"repeats"`
	Replace  string `json:"replace"`
	Triplets int    `json:"triplets"`
	Seed     uint64 `json:"seed"`
	Limit    int    `json:"limit,omitempty"`
}

// InfluenceRecord is what came of one image.
type InfluenceRecord struct {
	Replacement
	Uses     int      `json:"uses"` // rows of the batches of these steps
	Movement Movement `json:"movement"`
}

func (Influence) kind() kind {
	return kind{schemas: []string{InfluenceSchema}, made: "eval --influence"}
}

// From is the images that networks are compared on.
func (d Influence) From() Source { return d.Source }

// Covers is that of Stability. Other steps use other images.
func (d Influence) Covers(there Influence) []string {
	if other := otherThan(there.Options.Steps, d.Options.Steps, "steps"); other != nil {
		return other
	}
	plans := func(list []InfluenceRecord) []Replacement {
		var out []Replacement
		for _, v := range list {
			out = append(out, v.Replacement)
		}
		return out
	}
	return fewerReplaced(there.Source, d.Source, there.Options.Triplets, d.Options.Triplets, there.Options.Seed, d.Options.Seed, plans(there.Images), plans(d.Images))
}
