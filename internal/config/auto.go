package config

// Auto is a number, or "auto" for one that follows from the rest.
type Auto struct {
	Given bool
	N     float64 // 0 where not given
}

// String returns the value as a config writes it.
func (a Auto) String() string {
	if !a.Given {
		return "auto"
	}
	return number(a.N)
}
