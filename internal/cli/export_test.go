package cli

// What tests outside the package look at.
var (
	NewRoot       = newRoot
	CompleteFlags = completeFlags
	HelpText      = helpText
	ManName       = manName
	Roff          = roff
)

// Profiles are the flags of profiles.
type Profiles = profiles

// FreeFlags take a text that only the user knows: nothing is proposed for them.
var FreeFlags = []string{"seed", "task", "eps", "step", "curve", "positive", "noise", "curves", "grid", "label-column", "by", "columns", "select", "fmr", "where", "older", "name", "experiment", "http"}
