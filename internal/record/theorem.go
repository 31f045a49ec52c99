package record

// DIBSBounds is what Theorem 1 of Fonseca & Guidetti ("DIBS", arXiv 2201.12803) says
// about the training error that no network can go below. All are shares of the
// pairs, expected over graphs.
type DIBSBounds struct {
	ESim            float64  `json:"e_sim" doc:"E_sim: expected error of closed chains of similar pairs with one wrong label"`
	Lower           float64  `json:"lower" doc:"lower bound of the error minus E_sim"`
	EDiff           float64  `json:"e_diff" doc:"E_diff: upper bound of the error minus E_sim"`
	AbsoluteLower   float64  `json:"absolute_lower" doc:"lower bound of the error"`
	AbsoluteUpper   float64  `json:"absolute_upper" doc:"upper bound of the error"`
	Corollary       *float64 `json:"corollary,omitempty" doc:"error minus E_sim for two classes (Corollary 1.1)"`
	FloorDuplicates float64  `json:"floor_duplicates" doc:"expected error of image pairs that carry both labels"`
}
