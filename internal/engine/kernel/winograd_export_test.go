package kernel

// What the conformance suite calls.
var (
	WinogradFits    = Conv.winogradFits
	WinogradWeights = Conv.winogradWeights
)

// WinogradForward transforms the weights in each call.
func WinogradForward(g Conv, alg Algorithm, n int, x, w, bias []float32, relu bool, y []float32) {
	g.winogradForward(alg, n, x, w, nil, bias, relu, y)
}

// WinogradInput transforms the weights in each call.
func WinogradInput(g Conv, alg Algorithm, n int, dy, w, dx []float32) {
	g.winogradInput(alg, n, dy, w, nil, dx)
}
