package record

// Assign is what tercet cluster assign prints and writes, schema tercet.assign/1.
type Assign struct {
	Schema   string         `json:"schema"`
	Source   Source         `json:"source"`   // the new items
	Clusters ClustersSource `json:"clusters"` // that they were assigned to
	Assigned int            `json:"assigned"` // items that joined a cluster
	Own      int            `json:"own"`      // items that joined none, label -1
	Sizes    []int          `json:"sizes"`    // new items of each cluster
	// Clustering scores the new items alone; each that joined none is one cluster.
	Clustering Scores     `json:"clustering,omitempty"`
	Warnings   []string   `json:"warnings,omitempty"`
	Cost       CostRecord `json:"cost"`
	Labels     []int32    `json:"labels"` // 0 to clusters-1; -1: a cluster of its own
}

// ClustersSource says which clusters new items were assigned to.
type ClustersSource struct {
	File      string   `json:"file"`
	Method    string   `json:"method"`
	Clusters  int      `json:"clusters"`
	Dim       int      `json:"dim"`
	Threshold *float64 `json:"threshold"`
	Source    Source   `json:"source"` // the items that were clustered
}
