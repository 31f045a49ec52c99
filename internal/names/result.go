package names

// What a result is of unless its name says otherwise.
const (
	Test = "test" // the test images
	Last = "last" // the weights that training ended with
)

// Result is the name of a kind of result of a run, without an ending: the kind alone for
// the test images and the last checkpoint, otherwise with what differs, such as
// eval-validation, eval-best and eval-train-best. An empty split or checkpoint, as old
// documents have, is the default.
func Result(kind, split, checkpoint string) string {
	if split != "" && split != Test {
		kind += "-" + split
	}
	if checkpoint != "" && checkpoint != Last {
		kind += "-" + checkpoint
	}
	return kind
}
