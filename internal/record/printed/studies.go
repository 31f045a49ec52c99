package printed

// Studies is what tercet study list prints, schema tercet.studies/1.
type Studies struct {
	Schema  string       `json:"schema" doc:"the name and number of the schema"`
	Studies []StudyEntry `json:"studies" doc:"the studies, in alphabetical order"`
}

// StudyEntry is a study in the list.
type StudyEntry struct {
	Name    string      `json:"name" doc:"name of the study"`
	Title   string      `json:"title" doc:"title"`
	About   string      `json:"about" doc:"what is compared"`
	Steps   []string    `json:"steps" doc:"names of the steps"`
	Tables  []string    `json:"tables" doc:"names of the tables"`
	Details []StudyStep `json:"details,omitempty" doc:"the steps, if one study is listed"`
}

// StudyStep is a step of a study.
type StudyStep struct {
	Name    string   `json:"name" doc:"name of the step"`
	About   string   `json:"about" doc:"what its runs are about"`
	Extra   bool     `json:"extra" doc:"whether the step runs only if it is named"`
	Configs []string `json:"configs" doc:"its configs, with overrides"`
	Tables  []string `json:"tables" doc:"names of the tables that show it"`
}

// StudyPlan is what tercet study run --dry-run prints, schema tercet.studyplan/1.
type StudyPlan struct {
	Schema   string        `json:"schema" doc:"the name and number of the schema"`
	Commands []StudyAction `json:"commands" doc:"command lines that remain to be run, in order"`
}

// StudyAction is a command line of a study.
type StudyAction struct {
	Step string `json:"step" doc:"name of the step"`
	Run  string `json:"run,omitempty" doc:"run directory; absent if the command is on all runs of a step"`
	Line string `json:"command" doc:"the command line"`
}
