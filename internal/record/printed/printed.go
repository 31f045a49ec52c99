package printed

import "tercet/internal/record"

// Preview says what a contact sheet shows, schema tercet.preview/1.
type Preview struct {
	Schema    string         `json:"schema" doc:"the name and number of the schema"`
	Path      string         `json:"path" doc:"the picture"`
	Config    string         `json:"config" doc:"the config's name"`
	Name      string         `json:"name" doc:"the data"`
	Set       string         `json:"set" doc:"'train', 'validation' or 'test'"`
	Augmented bool           `json:"augmented" doc:"whether the images are augmented"`
	Rows      []PreviewClass `json:"rows" doc:"the rows of the sheet, a class each"`
}

// PreviewClass is a row of the sheet.
type PreviewClass struct {
	Class string  `json:"class" doc:"name of the class"`
	Items int     `json:"items" doc:"images of the class in the set"`
	Shown []int32 `json:"shown" doc:"indices of the images shown, in the set"`
}

// Trained is what tercet train prints, schema tercet.train/1.
type Trained struct {
	Schema string            `json:"schema" doc:"the name and number of the schema"`
	Runs   []record.Manifest `json:"runs" see:"manifestjson" doc:"the manifests of the runs"`
}

// RunList is what tercet train --list prints, schema tercet.runs/1.
type RunList struct {
	Schema string   `json:"schema" doc:"the name and number of the schema"`
	Runs   []string `json:"runs" doc:"directories of the runs, in the order of the sweep"`
}

// Error is the last line of stderr of a failed command with --json, schema
// tercet.error/1.
type Error struct {
	Schema   string `json:"schema" doc:"the name and number of the schema"`
	Error    string `json:"error" doc:"what is wrong"`
	ExitCode int    `json:"exit_code" doc:"exit code of the command"`
}

// Help is a help text with --json, schema tercet.help/1.
type Help struct {
	Schema  string `json:"schema" doc:"the name and number of the schema"`
	Command string `json:"command" doc:"name of the command"`
	Text    string `json:"text" doc:"its help"`
}

// Man is what tercet man prints, schema tercet.man/1.
type Man struct {
	Schema string   `json:"schema" doc:"the name and number of the schema"`
	Files  []string `json:"files" doc:"the pages that were written"`
}

// Completion is a script for a shell, schema tercet.completion/1.
type Completion struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Shell  string `json:"shell" doc:"name of the shell"`
	Script string `json:"script" doc:"the script"`
}

// Version is what tercet version prints, schema tercet.version/1.
type Version struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Binary
}

// PackedImages is a file of packed images as tercet data pack reports it.
type PackedImages struct {
	Schema  string               `json:"schema" doc:"the name and number of the schema"`
	Path    string               `json:"path" doc:"the file"`
	Images  int                  `json:"images" doc:"number of images"`
	Broken  []record.BrokenImage `json:"broken,omitempty" doc:"images that are not in it by 'data.skip_broken', with the reason"`
	Bytes   int64                `json:"bytes" doc:"size of the file"`
	Pixels  string               `json:"pixels" doc:"how the images were made, as in manifests: 'packed short 256'"`
	Decoder string               `json:"decoder" doc:"how files were decoded"`
	Resize  string               `json:"resize" doc:"whose arithmetic resized"`
	SHA256  string               `json:"sha256" doc:"of pixels and index"`
	Seconds float64              `json:"seconds" doc:"how long it took"`
}
