package labeled

import "fmt"

// checkItems refuses rows of unknown images.
func checkItems(items []uint64, rows int) error {
	if len(items) != rows {
		return fmt.Errorf("loss: images of %d rows are known for a batch of %d embeddings: views of an image cannot be found", len(items), rows)
	}
	return nil
}

// imagesOf gives rows of the same item the same number: the first row that has it. It
// reuses out.
func imagesOf(items []uint64, out []int32) []int32 {
	out = out[:0]
	for i, item := range items {
		first := 0
		for first < i && items[first] != item {
			first++
		}
		out = append(out, int32(first))
	}
	return out
}
