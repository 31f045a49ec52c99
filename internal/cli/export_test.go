package cli

// What tests outside the package look at.
var (
	NewRoot       = newRoot
	CompleteFlags = completeFlags
	HelpText      = helpText
	ManName       = manName
	Roff          = roff
	FreeFlags     = freeFlags
)

// Profiles are the flags of profiles.
type Profiles = profiles
