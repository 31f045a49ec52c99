package kernel

// What the conformance suite calls.
var (
	WinogradFits    = Conv.winogradFits
	WinogradForward = Conv.winogradForward
	WinogradInput   = Conv.winogradInput
	WinogradWeights = Conv.winogradWeights
)
