// Package analysis says what the records of runs tell: which of them are of one thing and may be put together, the
// curves that come of it, what is found on them, how sure that is, and what to try next. The maths is in package stats;
// how it is shown is no matter of this package.
package analysis
