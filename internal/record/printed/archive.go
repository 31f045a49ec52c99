package printed

// Archive is what tercet study archive prints, schema tercet.archive/1.
type Archive struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	File   string `json:"file" doc:"the archive"`
	Runs   int    `json:"runs" doc:"number of runs in it"`
	Files  int    `json:"files" doc:"number of documents in it"`
}
