package record

// Preview says what a contact sheet shows, schema tercet.preview/1.
type Preview struct {
	Schema    string         `json:"schema" doc:"the name and number of the schema"`
	Path      string         `json:"path" doc:"the picture"`
	Config    string         `json:"config" doc:"the config's name"`
	Name      string         `json:"name" doc:"the data"`
	Set       string         `json:"set" doc:"'train', 'validation' or 'test'"`
	Augmented bool           `json:"augmented" doc:"whether images are as augmentation changes them"`
	Rows      []PreviewClass `json:"rows" doc:"the rows of the sheet, a class each"`
}

// PreviewClass is a row of the sheet.
type PreviewClass struct {
	Class string  `json:"class" doc:"name of the class"`
	Items int     `json:"items" doc:"images of the class in the set"`
	Shown []int32 `json:"shown" doc:"indices of the images shown, in the set"`
}

// BoundPartition is what tercet bound partition prints, schema tercet.bound/1.
type BoundPartition struct {
	Schema     string            `json:"schema" doc:"the name and number of the schema"`
	Kind       string            `json:"kind" doc:"'partition'"`
	Partitions []StoredPartition `json:"partitions" doc:"each setting, with the runs that have it"`
	Others     []string          `json:"others,omitempty" doc:"runs that have no such error"`
}

// StoredPartition is a partition and the runs that have it.
type StoredPartition struct {
	Runs []string `json:"runs" doc:"directories of the runs"`
	Kept bool     `json:"kept,omitempty" doc:"whether it was there before"`
	*Partition
}
