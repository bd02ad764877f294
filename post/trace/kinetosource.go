package trace

// chunkBytes is the size of a read.
const chunkBytes = 1 << 18
