/* libcublasLt of the fake, version 12.MINOR. */
int fake_lt_minor(void) { return MINOR; }
#if MINOR >= 9
int fake_lt_since_9(void) { return 0; }
#endif
