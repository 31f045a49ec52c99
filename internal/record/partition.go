package record

// Mean is the mean of some draws, with its 95 % interval by Student's t; one draw has
// neither deviation nor interval.
type Mean struct {
	Value float64     `json:"value"`
	SD    *float64    `json:"sd,omitempty"` // of the draws
	CI95  *[2]float64 `json:"ci95,omitempty"`
}

// Partition is the error of the best partitions of graphs that were drawn as those of
// runs: no relation that is transitive has a lesser one. Schema tercet.partition/1.
type Partition struct {
	Schema string `json:"schema"`
	PartitionSetting
	Seed  uint64 `json:"seed"`
	Pairs int    `json:"pairs"` // of each graph
	// Errors are the pairs that the best partition found gets wrong, for each draw;
	// Proven counts the draws of which none is better.
	Errors   []int `json:"errors"`
	Proven   int   `json:"proven"`
	Multicut Mean  `json:"multicut"` // their share of the pairs
}

// PartitionSetting says which graphs are drawn.
type PartitionSetting struct {
	Classes   int     `json:"classes"`
	PerClass  int     `json:"per_class"`
	P         float64 `json:"p"` // probability that a pair's label is wrong
	Negatives string  `json:"negatives"`
}

func (Partition) kind() kind {
	return kind{schemas: []string{PartitionSchema}, made: "bound partition"}
}
