// Package exact finds multicuts of least objective and proves them: it reduces the graph
// without loss and solves what is left by branch and cut.
package exact
