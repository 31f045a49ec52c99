package printed

import "tercet/internal/record"

// Assign is what tercet cluster assign prints and writes, schema tercet.assign/1.
type Assign struct {
	Schema     string            `json:"schema" doc:"the name and number of the schema"`
	Source     record.Source     `json:"source" doc:"the new items"`
	Clusters   ClustersSource    `json:"clusters" doc:"the clusters that items were assigned to"`
	Assigned   int               `json:"assigned" doc:"number of items that joined a cluster"`
	Own        int               `json:"own" doc:"number of items that joined no cluster (label -1)"`
	Sizes      []int             `json:"sizes" doc:"number of new items in each cluster"`
	Clustering record.Scores     `json:"clustering,omitempty" doc:"scores of the new items; each item of label -1 counts as a separate cluster"`
	Warnings   []string          `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost       record.CostRecord `json:"cost" doc:"passes through the network, and the time"`
	Labels     []int32           `json:"labels" doc:"cluster of each item, from 0; -1 if the item joined no cluster"`
}

// ClustersSource says which clusters new items were assigned to.
type ClustersSource struct {
	File      string        `json:"file" doc:"the file of the clusters"`
	Method    string        `json:"method" doc:"clustering method"`
	Clusters  int           `json:"clusters" doc:"number of clusters"`
	Dim       int           `json:"dim" doc:"dimension of the vectors"`
	Threshold *float64      `json:"threshold" doc:"distance threshold of a multicut; null for k-means"`
	Source    record.Source `json:"source" doc:"the items that were clustered"`
}
