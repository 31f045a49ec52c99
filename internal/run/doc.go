// Package run owns the run directory and trains what is in it: manifest, lock, checkpoints,
// log. It sweeps over configs too.
//
// Create makes a directory for a config, Open reads one, and Run.Train trains it to its end
// or resumes it; a killed run loses nothing but the steps since its last checkpoint.
// CheckConfig and Precheck refuse what training would refuse, before a directory is made;
// MakePlan says what training would cost. Checkpoint, Loaded and Embed give the weights and
// the embeddings to what measures a run: packages evaluate, robustness, clustering and
// generalize. Keep is the rule by which their results replace older ones.
//
// A config becomes data and components in package wire; the loop itself is package train.
package run
