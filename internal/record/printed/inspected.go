package printed

import "tercet/internal/record"

// Inspected describes the data of a config or of npy files, schema tercet.inspection/1.
type Inspected struct {
	Schema     string    `json:"schema" doc:"the name and number of the schema"`
	Config     string    `json:"config,omitempty" doc:"the config's name"`
	Name       string    `json:"name" doc:"the dataset"`
	Embeddings string    `json:"embeddings,omitempty" doc:"npy file, without a config"`
	Labels     string    `json:"labels,omitempty" doc:"file of labels, without a config"`
	Train      *SetStats `json:"train,omitempty" doc:"training set"`
	Validation *SetStats `json:"validation,omitempty" doc:"validation set"`
	Test       *SetStats `json:"test,omitempty" doc:"test set"`
	Vectors    *SetStats `json:"vectors,omitempty" doc:"rows of npy files, without a config"`
	Overlaps   []Overlap `json:"overlaps,omitempty" doc:"items and classes that two sets share"`
	// Annotation is of a source that has one, in place of the sets.
	Annotation *Annotation `json:"annotation,omitempty" doc:"contents of the annotation, for datasets that have one; the sets are then absent"`
	// The sets are described under true labels.
	Noise    *record.Noise     `json:"noise,omitempty" doc:"noise on the training labels, or on the pairs or triplets of the sampler"`
	Graph    *record.PairGraph `json:"graph,omitempty" doc:"pairs of the sampler"`
	Triplets *record.Triplets  `json:"triplets,omitempty" doc:"triplets of the sampler"`
	Sampler  *SamplerPlan      `json:"sampler,omitempty" doc:"the sampler; absent if it cannot draw from these data"`
	Warnings []string          `json:"warnings,omitempty" doc:"warnings"`
}

// SetStats describes a set. Its fingerprint is the one that manifests and result
// documents carry.
type SetStats struct {
	Items    int `json:"items" doc:"number of items"`
	Height   int `json:"height" doc:"height in pixels"`
	Width    int `json:"width" doc:"width in pixels"`
	Channels int `json:"channels" doc:"channels, or the dimension of vectors"`

	Classes      int     `json:"classes" doc:"classes with items"`
	EmptyClasses int     `json:"empty_classes" doc:"classes that have a name and no items"`
	Singles      int     `json:"singles" doc:"classes of one item"`
	PerClassMin  int     `json:"per_class_min" doc:"items in the smallest class"`
	PerClassMed  float64 `json:"per_class_median" doc:"median of items in a class"`
	PerClassMax  int     `json:"per_class_max" doc:"items in the largest class"`

	Min         float64   `json:"min" doc:"smallest number"`
	Max         float64   `json:"max" doc:"largest number"`
	Mean        float64   `json:"mean" doc:"mean"`
	Std         float64   `json:"std" doc:"standard deviation, population formula"`
	ChannelMean []float64 `json:"channel_mean,omitempty" doc:"means of up to 4 channels"`
	ChannelStd  []float64 `json:"channel_std,omitempty" doc:"standard deviations of up to 4 channels"`

	Duplicates  int      `json:"duplicates" doc:"items equal to an earlier one"`
	Conflicts   int      `json:"conflicts" doc:"duplicates with another label than the first of their kind"`
	Constant    int      `json:"constant" doc:"items whose numbers are all equal"`
	Fingerprint string   `json:"fingerprint" doc:"hash of the set, as in manifests"`
	Lengths     *Lengths `json:"lengths,omitempty" doc:"Euclidean lengths of vectors"`
}

// Lengths are the Euclidean lengths of vectors.
type Lengths struct {
	Min   float64 `json:"min" doc:"shortest"`
	Mean  float64 `json:"mean" doc:"mean"`
	Max   float64 `json:"max" doc:"longest"`
	Zeros int     `json:"zeros" doc:"vectors of length 0"`
}

// Overlap says what two sets have in common.
type Overlap struct {
	Of      string `json:"of" doc:"the one set"`
	In      string `json:"in" doc:"the other set"`
	Items   int    `json:"items" doc:"items of 'of' whose pixels also occur in 'in'"`
	Classes int    `json:"classes" doc:"number of class names with items in both"`
}

// SamplerPlan is the batcher of a config on its training set.
type SamplerPlan struct {
	Name      string          `json:"name" doc:"name of the sampler"`
	BatchRows int             `json:"batch_rows" doc:"images in a batch"`
	Steps     int             `json:"steps_per_epoch" doc:"steps of an epoch"`
	Layout    string          `json:"layout" doc:"layout of the rows of a batch"`
	Coverage  record.Coverage `json:"coverage" doc:"coverage of the data in the first epoch"`
}

// Datasets is what tercet data list prints, schema tercet.datasets/1.
type Datasets struct {
	Schema   string         `json:"schema" doc:"the name and number of the schema"`
	Datasets []DatasetEntry `json:"datasets" doc:"the datasets that a config can name"`
}

// DatasetEntry is a dataset in the list.
type DatasetEntry struct {
	Name  string   `json:"name" doc:"value of 'data.name'"`
	About string   `json:"about" doc:"what it holds"`
	Needs string   `json:"needs" doc:"files that it needs"`
	Keys  []string `json:"keys" doc:"its own keys in a config"`
}

// Annotation describes an annotation, and the images that it names where these were
// read.
type Annotation struct {
	Root        string      `json:"root" doc:"folder of the images"`
	Roles       []RoleStats `json:"roles" doc:"one for training images, then queries and gallery, or test images that are both"`
	Shared      int         `json:"shared" doc:"classes of training and test"`
	Lost        int         `json:"lost_queries" doc:"queries without another image of their class in the gallery"`
	Categories  int         `json:"categories" doc:"number of categories"`
	Sequences   int         `json:"sequences" doc:"number of sequences"`
	Boxes       int         `json:"boxes" doc:"images with a bounding box"`
	Fingerprint string      `json:"fingerprint" doc:"hash of paths, boxes, labels, roles and, if images were looked for, their sizes"`
	Copies      *int        `json:"copies,omitempty" doc:"number of images whose file equals an earlier one, if files were read"`
	Misplaced   *int        `json:"misplaced,omitempty" doc:"copies in another class, or in training and test"`
	Oriented    []string    `json:"oriented,omitempty" doc:"images with an EXIF orientation, which is not applied"`
	OtherModes  []string    `json:"not_rgb,omitempty" doc:"images that are not RGB and are converted"`
	Unreadable  []string    `json:"unreadable,omitempty" doc:"images that cannot be decoded"`
}

// RoleStats describes the images of a role.
type RoleStats struct {
	Role        string         `json:"role" doc:"name of the role"`
	Images      int            `json:"images" doc:"number of images"`
	Classes     int            `json:"classes" doc:"number of classes"`
	PerClassMin int            `json:"per_class_min" doc:"images of the smallest class"`
	PerClassMed float64        `json:"per_class_median" doc:"median of images in a class"`
	PerClassMax int            `json:"per_class_max" doc:"images of the largest class"`
	Singles     int            `json:"singles" doc:"classes of one image"`
	Modes       map[string]int `json:"modes,omitempty" doc:"number of images of each color mode, if they were read"`
	Shortest    int            `json:"shortest,omitempty" doc:"shortest side in pixels"`
	Longest     int            `json:"longest,omitempty" doc:"longest side in pixels"`
	Bytes       int64          `json:"bytes,omitempty" doc:"size of the files"`
}
