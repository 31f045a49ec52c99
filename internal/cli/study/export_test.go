package study

// What tests of this package, which run command lines, need of its inside.
var (
	ReadSpec  = readSpec
	MakeStudy = makeStudy
)
