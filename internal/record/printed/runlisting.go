package printed

import "tercet/internal/record"

// RunListing is what tercet runs list prints, schema tercet.run-listing/1.
type RunListing struct {
	Schema string      `json:"schema" doc:"the name and number of the schema"`
	Score  string      `json:"score" doc:"key of the listed score, of the test images and the last checkpoint"`
	Runs   []ListedRun `json:"runs" doc:"the runs, in the order asked for"`
}

// ListedRun is a run as a list of runs has it.
type ListedRun struct {
	RunState
	Score *record.Value `json:"score,omitempty" doc:"the listed score; absent if the run does not have it"`
}

// RunState is where a run stands, and what it took.
type RunState struct {
	SweptRun
	Best    *record.Best  `json:"best,omitempty" doc:"the best checkpoint"`
	Split   string        `json:"best_split,omitempty" doc:"split that chose it"`
	Score   *record.Value `json:"score,omitempty" doc:"the listed score; absent if the run does not have it"`
	Started string        `json:"started,omitempty" doc:"start of training (RFC 3339)"`
	Updated string        `json:"updated,omitempty" doc:"last change of its manifest"`
	Seconds float64       `json:"seconds" doc:"training time over all sessions"`
	Cost    record.Cost   `json:"cost" doc:"images passed through the network in training"`
	Bytes   int64         `json:"bytes" doc:"size of its files in bytes; 0 in an archive"`
}

// RunDifference is what tercet runs diff prints, schema tercet.run-difference/1.
type RunDifference struct {
	Schema string            `json:"schema" doc:"the name and number of the schema"`
	Runs   [2]string         `json:"runs" doc:"directories of the two runs"`
	Config []SettingPair     `json:"config" doc:"config keys whose values differ, in the order of the config"`
	Scores []ScoreDifference `json:"scores" doc:"all scores of either run"`
	Notes  []string          `json:"notes,omitempty" doc:"why scores may not be comparable"`
}

// SettingPair is a key of two configs.
type SettingPair struct {
	Key    string     `json:"key" doc:"the config key"`
	Values [2]*string `json:"values" doc:"its value in each run; null if the run's config does not have the key"`
}

// ScoreDifference is a score of two runs.
type ScoreDifference struct {
	Key        string           `json:"key" doc:"the score"`
	Values     [2]*record.Value `json:"values" doc:"its value in each run; null if the run does not have it"`
	Difference *float64         `json:"difference,omitempty" doc:"second minus first, if both runs have it, measured in the same way"`
	Queries    *OverQueries     `json:"over_queries,omitempty" doc:"interval and test of the difference over queries, if both runs store the values of the same queries"`
	Unlike     string           `json:"unlike,omitempty" doc:"how the two measurements differ"`
}

// ExtendedRun is what tercet runs extend prints, schema tercet.extended-run/1.
type ExtendedRun struct {
	Schema   string `json:"schema" doc:"the name and number of the schema"`
	Dir      string `json:"dir" doc:"directory of the longer run"`
	Of       string `json:"continues" doc:"directory of the run that it continues"`
	Step     int    `json:"step" doc:"steps already done"`
	Planned  int    `json:"steps_planned" doc:"steps of the longer run"`
	Schedule string `json:"schedule,omitempty" doc:"how the learning rate schedule continues: 'keep', 'restart' or 'stretch'"`
	Next     string `json:"next" doc:"the command that trains it"`
}

// RemovedRuns is what tercet runs rm and prune print, schema tercet.removed-runs/1.
type RemovedRuns struct {
	Schema  string       `json:"schema" doc:"the name and number of the schema"`
	Removed bool         `json:"removed" doc:"false for a dry run: nothing was removed"`
	Runs    []RemovedRun `json:"runs" doc:"what is removed"`
	Bytes   int64        `json:"bytes" doc:"total size in bytes"`
}

// RemovedRun is a run of which files are removed.
type RemovedRun struct {
	Dir    string        `json:"dir" doc:"its directory"`
	Status record.Status `json:"status" doc:"its status, as in 'sweep status'"`
	Files  []string      `json:"files,omitempty" doc:"removed files, relative to the directory; absent if the whole run is removed"`
	Bytes  int64         `json:"bytes" doc:"size in bytes"`
}

// ShownRun is what tercet runs show prints, schema tercet.shown-run/1.
type ShownRun struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	RunState
	Manifest record.Manifest `json:"manifest" see:"manifestjson" doc:"its manifest"`
	Settings []Setting       `json:"settings" doc:"config keys that differ from the defaults"`
	Results  []ShownResult   `json:"results" doc:"scores of all its result documents"`
	Files    []SizedFile     `json:"files,omitempty" doc:"files and folders of its directory, the largest first; absent in an archive"`
	Next     string          `json:"next,omitempty" doc:"the command to run next"`
	Left     []string        `json:"left_out,omitempty" doc:"documents left out because they are not of this run, with the reason"`
}

// Setting is a config key with its value.
type Setting struct {
	Key   string `json:"key" doc:"the config key"`
	Value string `json:"value" doc:"its value"`
}

// ShownResult is a result document of a run.
type ShownResult struct {
	Kind       string        `json:"kind" doc:"'eval', 'attack', 'cluster', 'worst' or 'certify'"`
	Split      string        `json:"split" doc:"split of the images"`
	Checkpoint string        `json:"checkpoint" doc:"checkpoint of the weights"`
	Step       int           `json:"step" doc:"training step of the checkpoint"`
	Items      int           `json:"items" doc:"number of images"`
	Scores     record.Scores `json:"scores" doc:"its scores"`
}

// SizedFile is a file or folder with its size.
type SizedFile struct {
	Name  string `json:"name" doc:"name; that of a folder ends in a slash"`
	Bytes int64  `json:"bytes" doc:"size in bytes"`
}

// ComparedRuns is what tercet compare prints, schema tercet.comparison/1.
type ComparedRuns struct {
	Schema      string             `json:"schema" doc:"the name and number of the schema"`
	Split       string             `json:"split" doc:"split of the images that scores are of"`
	Checkpoint  string             `json:"checkpoint" doc:"checkpoint that scores are of"`
	Resamples   int                `json:"resamples" doc:"number of bootstrap resamples of queries"`
	Flips       int                `json:"permutations" doc:"number of random sign flips of the permutation test, if not all are enumerated"`
	Seed        uint64             `json:"seed" doc:"random seed of both"`
	Sides       []ComparedSide     `json:"sides" doc:"what is compared: the first with each of the others"`
	Differences []PairedDifference `json:"differences" doc:"by side and score"`
	Notes       []string           `json:"notes,omitempty" doc:"what was left out and why"`
}

// ComparedSide is a run, the runs of one configuration, or a result of embeddings.
type ComparedSide struct {
	Name  string   `json:"name" doc:"its name"`
	From  []string `json:"from" doc:"run directories or files"`
	Seeds []uint64 `json:"seeds,omitempty" doc:"seeds of the runs, in the same order"`
}

// PairedDifference is how much higher a score of one side is than of the first.
type PairedDifference struct {
	Score   string       `json:"score" doc:"the score"`
	Side    string       `json:"side" doc:"name of the side that is compared with the first"`
	Values  [2]*float64  `json:"values" doc:"mean of the first side and mean of this side, over the paired results"`
	Pairs   int          `json:"pairs" doc:"number of paired results"`
	Mean    *float64     `json:"difference,omitempty" doc:"this side minus the first; absent if no results can be paired"`
	Seeds   *OverSeeds   `json:"over_seeds,omitempty" doc:"interval and test over seeds, for two or more pairs with the same seeds"`
	Queries *OverQueries `json:"over_queries,omitempty" doc:"interval and test over queries, if all results store the values of the same queries"`
	Verdict string       `json:"verdict" doc:"'better', 'worse' or 'inconclusive': from the interval over at least three seeds; for one pair of runs, from the interval over queries"`
	Unlike  string       `json:"unlike,omitempty" doc:"how the measurements of the sides differ, if no difference can be computed"`
}

// OverSeeds is what differences seed by seed say of further seeds.
type OverSeeds struct {
	CI95   *[2]float64 `json:"ci95,omitempty" doc:"95 % interval of the mean difference by Student's t; absent if all differences are equal"`
	P      float64     `json:"p" doc:"p value of a two-sided permutation test: share of sign flips whose mean difference is at least as large"`
	Needed int         `json:"seeds_needed,omitempty" doc:"number of seeds that detects a difference of this size and spread with probability 0.8; 0 for more than 10,000"`
}

// OverQueries is what differences query by query say of further queries, with these weights.
type OverQueries struct {
	N    int        `json:"n" doc:"number of queries"`
	CI95 [2]float64 `json:"ci95" doc:"95 % interval of the mean difference by a paired bootstrap"`
	P    float64    `json:"p" doc:"p value of a two-sided permutation test, as over seeds"`
}
