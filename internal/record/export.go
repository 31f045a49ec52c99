package record

// Export says what an export of embeddings has written, schema tercet.embeddings/1.
type Export struct {
	Schema     string     `json:"schema" doc:"the name and number of the schema"`
	Source     Source     `json:"source" doc:"what the result was computed from"`
	Embeddings string     `json:"embeddings" doc:"npy file of the vectors, (N, D)"`
	Labels     string     `json:"labels" doc:"npy file of the labels, N"`
	Items      string     `json:"items" doc:"csv file: row, item, file, label, class"`
	Cost       CostRecord `json:"cost" doc:"passes through the network, and the time"`
}
