// Package analysis groups records into curves, finds anomalies with their significance, and proposes what to try.
// Package stats has the maths. Other packages show the results.
package analysis
