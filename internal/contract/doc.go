// Package contract holds the test that the program answers its users as it did
// when the goldens were written: stdout, stderr, exit code and the files of about
// 150 command lines. The command lines are in testdata/commands.txt, in groups;
// testdata/golden has one file for each group. What may differ between two runs
// (times, versions, the machine) is in placeholders_test.go and nowhere else.
package contract
