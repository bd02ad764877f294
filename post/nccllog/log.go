// Package nccllog reads what NCCL and its relatives say while they run: debug logs (NCCL_DEBUG) of NCCL 2.4 to 2.30, RCCL and
// NCCLX, through launchers' prefixes and interleaved lines; the Inspector's JSON lines; and what ncclras prints. It says what was set
// up and used, what is wrong with it, and in what two logs differ.
package nccllog
