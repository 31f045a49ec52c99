package report

// What tests of this package, which run command lines, need of its inside.
var (
	BuiltIn   = builtIn
	StudySpec = studySpec
	MakeStudy = makeStudy
)

type StudyEntry = studyEntry
