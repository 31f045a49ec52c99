package names

import (
	"strconv"
	"strings"
)

// KeptStep is the step of a checkpoint that a run keeps beside the last and the best one,
// such as 200 of step-200; false of another word.
func KeptStep(checkpoint string) (int, bool) {
	digits, ok := strings.CutPrefix(checkpoint, "step-")
	step, err := strconv.Atoi(digits)
	return step, ok && err == nil && step > 0 && digits == strconv.Itoa(step)
}
