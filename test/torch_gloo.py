"""all_reduce of torch.distributed's Gloo backend, as a peer for `make bench`.

Started once per rank by mpirun:  mpirun -np 2 /usr/bin/python3 test/torch_gloo.py STORE SECONDS BYTES...
STORE is a file that does not exist yet and that all ranks see. For each size, in-place sums of float32 are timed in
batches that begin together and hold a tenth of a second of operations back to back, for about SECONDS; the time of a
batch is that of its slowest rank. Rank 0 prints "BYTES SECONDS": the median over batches of the time of one operation.
"""

import math
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

BATCH = 0.1  # s
MOST = 4096  # operations in a batch


def place(names):
    """The first of these variables that a launcher has set, as a number."""
    for name in names:
        if name in os.environ:
            return int(os.environ[name])
    sys.exit("torch_gloo.py: no rank in the environment: start it by mpirun")


def slowest(seconds):
    """The largest of the ranks' values, on every rank."""
    x = torch.tensor([seconds], dtype=torch.float64)
    dist.all_reduce(x, op=dist.ReduceOp.MAX)
    return x.item()


def batch(data, operations):
    """Seconds of one operation in a batch, of the slowest rank."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(operations):
        dist.all_reduce(data)
    return slowest(time.perf_counter() - start) / operations


def measure(size, seconds):
    """Median over batches of the time of one operation of so many bytes."""
    data = torch.zeros(size // 4, dtype=torch.float32)
    for _ in range(5):
        once = batch(data, 1)
    operations = min(MOST, max(1, math.ceil(BATCH / once)))
    batches = max(6, math.ceil(seconds / (once * operations)))
    return statistics.median(batch(data, operations) for _ in range(batches))


def main():
    rank = place(["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"])
    world = place(["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"])
    store, seconds, sizes = sys.argv[1], float(sys.argv[2]), [int(a) for a in sys.argv[3:]]
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath(store), rank=rank, world_size=world)
    for size in sizes:
        t = measure(size, seconds)
        if rank == 0:
            print(size, t, flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
