package record

// AttackPart is what a task of an attack has found, schema tercet.attack-part/1: a share of
// the queries, for the merge of all.
type AttackPart struct {
	Schema  string        `json:"schema" doc:"the name and number of the schema"`
	Source  Source        `json:"source" doc:"what the result will be computed from"`
	Options AttackOptions `json:"options" doc:"the options of the command, with defaults filled in"`
	Program string        `json:"program" doc:"version of the program"`
	Kernel  string        `json:"kernel" doc:"kernel level, and the device of the network if it is not the processor"`
	Task    int           `json:"task" doc:"number of the task, from 1"`
	Tasks   int           `json:"tasks" doc:"number of tasks"`
	First   int           `json:"first" doc:"place of the first query of the share"`
	Queries int           `json:"queries" doc:"number of its queries"`
	// Adversarial and Clean are by variant and score.
	Adversarial [][][]float64 `json:"adversarial,omitempty" doc:"scores of the perturbed images, by variant, score and query"`
	Clean       [][][]float64 `json:"clean,omitempty" doc:"the same scores of the images as they are"`
	Attacks     []AttackShare `json:"attacks,omitempty" doc:"what each attack did"`
}

// AttackShare is what an attack did to some of the queries.
type AttackShare struct {
	Attack  string        `json:"attack" doc:"name of the attack"`
	Seconds float64       `json:"seconds" doc:"time it took"`
	Batches []AttackBatch `json:"batches" doc:"images that were crafted together"`
}

// AttackBatch are images that were crafted together.
type AttackBatch struct {
	Draw    int       `json:"draw" doc:"draw of random targets, from 0"`
	First   int       `json:"first" doc:"place of the first query"`
	Crafted int       `json:"crafted" doc:"images that were crafted"`
	Shared  int       `json:"shared" doc:"images that both variants use"`
	Linf    []float64 `json:"linf" doc:"largest change of a pixel, of each image"`
	L2      []float64 `json:"l2" doc:"Euclidean length of the change, of each image"`
	Zero    []float64 `json:"zero" doc:"images times the fraction of their gradients that vanished, for each crafting"`
	Cost    Cost      `json:"cost" doc:"passes through the network"`
}

func (AttackPart) kind() kind {
	return kind{schemas: []string{AttackPartSchema}, made: "attack", max: 1 << 30}
}
