package record

// Mean is the mean of some draws, with its 95 % interval by Student's t; one draw has
// neither deviation nor interval.
type Mean struct {
	Value float64     `json:"value" doc:"mean over draws"`
	SD    *float64    `json:"sd,omitempty" doc:"standard deviation of the draws"`
	CI95  *[2]float64 `json:"ci95,omitempty" doc:"95 % interval, Student's t"`
}

// Partition is the error of the best partitions of graphs that were drawn as those of
// runs: no relation that is transitive has a lesser one. Schema tercet.partition/1.
type Partition struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	PartitionSetting
	Seed     uint64 `json:"seed" doc:"random seed"`
	Pairs    int    `json:"pairs" doc:"pairs of each graph"`
	Errors   []int  `json:"errors" doc:"pairs that the best partition gets wrong, in each draw"`
	Proven   int    `json:"proven" doc:"draws with a proven optimum"`
	Multicut Mean   `json:"multicut" doc:"fraction of wrong pairs"`
}

// PartitionSetting says which graphs are drawn.
type PartitionSetting struct {
	Classes   int     `json:"classes" doc:"number of classes"`
	PerClass  int     `json:"per_class" doc:"images in each class"`
	P         float64 `json:"p" doc:"probability of a wrong pair label"`
	Negatives string  `json:"negatives" doc:"kind of negatives"`
}

func (Partition) kind() kind {
	return kind{schemas: []string{PartitionSchema}, made: "bound partition"}
}
