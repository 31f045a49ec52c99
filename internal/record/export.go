package record

// Export says what an export of embeddings has written, schema tercet.embeddings/1.
type Export struct {
	Schema     string     `json:"schema"`
	Source     Source     `json:"source"`
	Embeddings string     `json:"embeddings"` // npy, (N, D)
	Labels     string     `json:"labels"`     // npy, N
	Items      string     `json:"items"`      // csv: row, item, file, label, class
	Cost       CostRecord `json:"cost"`
}
