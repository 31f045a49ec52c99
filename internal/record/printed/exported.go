package printed

import "tercet/internal/record"

// ExportedModel is what tercet export prints, schema tercet.export/1.
type ExportedModel struct {
	Schema     string         `json:"schema" doc:"the name and number of the schema"`
	Run        string         `json:"run" doc:"directory of the run"`
	Checkpoint string         `json:"checkpoint" doc:"'last' or 'best'"`
	Step       int            `json:"step" doc:"step of the checkpoint"`
	Model      record.Model   `json:"model" doc:"the network"`
	Format     string         `json:"format" doc:"'torch' or 'onnx'"`
	Files      []ExportedFile `json:"files" doc:"what was written"`
}

// ExportedFile is a file that was written.
type ExportedFile struct {
	File   string `json:"file" doc:"its path"`
	Holds  string `json:"holds" doc:"what it holds, in words"`
	Bytes  int64  `json:"bytes" doc:"size in bytes"`
	SHA256 string `json:"sha256" doc:"its SHA-256"`
}

// ExportedRuns is what tercet export tensorboard, mlflow and csv print, schema
// tercet.exported-runs/1.
type ExportedRuns struct {
	Schema string        `json:"schema" doc:"the name and number of the schema"`
	Format string        `json:"format" doc:"'tensorboard', 'mlflow' or 'csv'"`
	Out    string        `json:"out" doc:"the folder or file that was written"`
	Runs   []string      `json:"runs" doc:"directories of the runs"`
	Files  []WrittenFile `json:"files" doc:"what was written: files, or of 'mlflow' the folder of each run"`
}

// WrittenFile is a file or folder that was written.
type WrittenFile struct {
	File  string `json:"file" doc:"its path"`
	Bytes int64  `json:"bytes" doc:"size in bytes"`
}

// Preprocess is preprocess.json, schema tercet.preprocess/1: how an image file becomes
// the input of an exported network.
type Preprocess struct {
	Schema        string   `json:"schema" doc:"the name and number of the schema"`
	Color         string   `json:"color" doc:"mode of Pillow: 'RGB' or 'L'"`
	Steps         []string `json:"steps,omitempty" doc:"steps as torchvision names them, from 'data.transform.test'; nothing else then changes the size"`
	Resize        int      `json:"resize" doc:"new size in pixels; 0 keeps the size"`
	Fit           string   `json:"fit,omitempty" doc:"which sides have that size: 'stretch' both, 'short' the shorter one"`
	Interpolation string   `json:"interpolation,omitempty" doc:"'bicubic', of resize"`
	Antialias     bool     `json:"antialias" doc:"the filter widens where the image shrinks"`
	Crop          int      `json:"crop" doc:"side of the center crop; 0 crops nothing"`
	Height        int      `json:"height" doc:"height of the input"`
	Width         int      `json:"width" doc:"width of the input"`
	Scale         float64  `json:"scale" doc:"bytes are multiplied by it; the network does all else"`
}
