// Package compare compares what was measured of triplet metric learning with its bounds:
// documents of schema tercet.metricstability/1 in a table, the checks of claims with their
// verdicts, and pictures on logarithmic axes.
package compare
