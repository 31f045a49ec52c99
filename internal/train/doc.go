// Package train runs the training loop: batch, mine, craft, forward, loss, backward, step,
// log, checkpoint. It knows no terminals and no config files.
//
// Trainer.Run is the loop and its step the algorithm, top to bottom. WriteCheckpoint and
// ReadCheckpoint save and restore its state, so that a resumed run is bit-identical;
// Log and ReadEvents are events.jsonl. A loss or gradient that is not finite is a
// NonFiniteError, embeddings in one place a collapse: both end a run.
package train
