package record

import "fmt"

// Embed is embed.json, schema tercet.embed/1: what a folder of embeddings holds, and what
// made it.
type Embed struct {
	Schema  string        `json:"schema" doc:"the name and number of the schema"`
	Source  Source        `json:"source" doc:"what the embeddings are of: run, checkpoint and split, or the fingerprint of the files"`
	Root    string        `json:"root,omitempty" doc:"folder that the paths of 'items.csv' are relative to"`
	Network EmbedNetwork  `json:"network" doc:"what made the embeddings"`
	Start   *StartWeights `json:"start,omitempty" doc:"weights loaded from a file of another program"`
	Config  string        `json:"config,omitempty" doc:"resolved config of such a network"`
	Format  string        `json:"format" doc:"'f32' or 'f16'"`
	Files   []EmbedFile   `json:"files" doc:"npy files of the embeddings, in order"`
	Items   EmbedFile     `json:"items" doc:"csv file: row, path, label, role, sequence, box, width and height of each image"`
	Broken  []BrokenImage `json:"broken,omitempty" doc:"images that could not be read; they have no row"`
	Job     string        `json:"job" doc:"SHA-256 of network and images; only an embedding with the same one is resumed"`
	Cost    CostRecord    `json:"cost" doc:"passes through the network, and the time of the last session"`
	Rate    float64       `json:"images_per_second,omitempty" doc:"images per second in the last session"`
}

// EmbedNetwork is a network with what it does to an image file before. Distances between
// embeddings mean something only where it is the same.
type EmbedNetwork struct {
	Name       string `json:"name" doc:"name of the network"`
	Weights    string `json:"weights" doc:"file of the weights"`
	SHA256     string `json:"weights_sha256" doc:"SHA-256 of that file"`
	Dim        int    `json:"dim" doc:"dimension of the embedding"`
	Input      [3]int `json:"input" doc:"height, width and channels of its input"`
	Normalized bool   `json:"normalized" doc:"whether embeddings have length 1"`
	Transform  string `json:"transform" doc:"transform from an image file to that input"`
	Decoder    string `json:"decoder" doc:"decoder of image files"`
	Kernel     string `json:"kernel" doc:"kernel level"`
	Spec       string `json:"spec,omitempty" doc:"settings of the network as JSON, if its weights come from another program"`
}

// EmbedFile is a file of a folder of embeddings.
type EmbedFile struct {
	Name   string `json:"name" doc:"name in the folder"`
	Rows   int    `json:"rows" doc:"number of rows"`
	SHA256 string `json:"sha256" doc:"SHA-256 of the file"`
}

// BrokenImage is an image that could not be read.
type BrokenImage struct {
	Path  string `json:"path" doc:"the file"`
	Error string `json:"error" doc:"what is wrong with it"`
}

func (Embed) kind() kind { return kind{schemas: []string{EmbedSchema}, made: "embed"} }

// Unlike says in what two networks differ, so that distances between their embeddings mean
// nothing; "" where they agree. The kernel level may differ: it changes last bits.
func (n EmbedNetwork) Unlike(o EmbedNetwork) string {
	for _, part := range []struct {
		what string
		a, b any
	}{
		{"network", n.Name, o.Name},
		{"dimension", n.Dim, o.Dim},
		{"SHA-256 of the weights", n.SHA256, o.SHA256},
		{"input", n.Input, o.Input},
		{"settings", n.Spec, o.Spec},
		{"transform", n.Transform, o.Transform},
		{"decoder", n.Decoder, o.Decoder},
	} {
		if part.a != part.b {
			return fmt.Sprintf("%s: %v and %v", part.what, part.a, part.b)
		}
	}
	return ""
}

// Export says what an export of embeddings has written, schema tercet.embeddings/1.
type Export struct {
	Schema     string     `json:"schema" doc:"the name and number of the schema"`
	Source     Source     `json:"source" doc:"what the result was computed from"`
	Embeddings string     `json:"embeddings" doc:"file of the vectors, (N, D)"`
	Format     string     `json:"format,omitempty" doc:"its format, if it is not npy"`
	Bytes      *ByteScale `json:"bytes,omitempty" doc:"scale of 8-bit numbers, if the file holds them: value = offset + step * byte"`
	Labels     string     `json:"labels,omitempty" doc:"npy file of the N labels"`
	Items      string     `json:"items" doc:"csv file: row, item, file, label, class"`
	Cost       CostRecord `json:"cost" doc:"passes through the network, and the time"`
}

// ByteScale says what numbers a byte b stands for: offset + step*b.
type ByteScale struct {
	Offset float64 `json:"offset" doc:"value of byte 0"`
	Step   float64 `json:"step" doc:"difference between the values of two neighboring bytes"`
}

// Search is what tercet search prints, schema tercet.search/1.
type Search struct {
	Schema       string  `json:"schema" doc:"the name and number of the schema"`
	Queries      string  `json:"queries" doc:"folder of the queries, or the images"`
	Gallery      string  `json:"gallery" doc:"folder that was searched"`
	K            int     `json:"k" doc:"number of nearest images for each query"`
	QueryCount   int     `json:"query_items" doc:"number of queries"`
	GalleryCount int     `json:"gallery_items" doc:"number of images in the gallery"`
	Count        int     `json:"found_items" doc:"number of images found, over all queries"`
	Found        []Found `json:"found,omitempty" doc:"what was found, if it was not written to a file"`
}

// Found is one image that a query found.
type Found struct {
	Query     int     `json:"query" doc:"row of the query"`
	QueryPath string  `json:"query_path" doc:"path of the query"`
	Rank      int     `json:"rank" doc:"rank, from 1"`
	Item      int     `json:"item" doc:"row of the image in the gallery"`
	Path      string  `json:"path" doc:"path of the image"`
	Distance  float64 `json:"distance" doc:"Euclidean distance"`
	Label     string  `json:"label" doc:"label of the image, empty for none"`
}
