// Package tracker writes runs for the programs in which people follow experiments:
// TensorBoard, MLflow, and tables of their numbers. It reads run directories alone, and the
// same directories give the same bytes.
package tracker
