package testutil

import "os"

// nightKey in the environment asks for all trials; make nightly sets it.
const nightKey = "TERCET_TRIALS"

// Trials is how often a test repeats on other random data, or how many of several likely
// cases it takes: few in make test, all at night. A test must be able to fail with few.
func Trials(few, all int) int {
	if os.Getenv(nightKey) == "all" {
		return all
	}
	return few
}
