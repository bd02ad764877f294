/* From calls to streams: injects faults and turns a batch of operations into one piece of work. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

static const unsigned AT_ISSUE = 1 << LATE | 1 << HANG | 1 << OOM | 1 << CRASH;
static const unsigned AT_RUN = 1 << WRONG | 1 << ASYNC_ERROR | 1 << REMOTE;

/* Blocks until the communicator is aborted. */
static void hang(struct nccl_comm *c)
{
	while (!atomic_load(&c->aborted)) {
		pause_for(2 * 1000000);
		control_check(c);
	}
}

static int is_transfer(const struct operation *o) { return o->kind == SEND || o->kind == RECV; }

void batch_free(void *context)
{
	struct batch *b = context;
	struct operation *next;
	for (struct operation *o = b->first; o; o = next) {
		next = o->next;
		free(o->split);
		free(o);
	}
	comm_put(b->comm);
	free(b);
}

/* The collective that a group of sends and receives is equivalent to for this rank, and its S. */
static enum kind shape(const struct batch *b, uint64_t *bytes)
{
	const int ranks = b->comm->ranks;
	int sends = 0, receives = 0, others = 0, last = -1;
	*bytes = 0;
	for (const struct operation *o = b->first; o; o = o->next) {
		if (!is_transfer(o))
			continue;
		sends += o->kind == SEND;
		receives += o->kind == RECV;
		others += o->kind == SEND && o->root != last;
		if (o->kind == SEND)
			last = o->root;
		*bytes = o->count * type_bytes(o->type);
	}
	if (ranks == 1 || (sends == 1 && receives == 1) || (sends > 1 && others == 1))
		return SEND_RECV;
	*bytes *= (uint64_t)ranks;
	if (sends == ranks && receives == ranks)
		return ALL_TO_ALL;
	if (receives == ranks || (sends == 1 && !receives))
		return GATHER;
	if (sends == ranks || (receives == 1 && !sends))
		return SCATTER;
	*bytes /= (uint64_t)ranks;
	return SEND_RECV;
}

/* Injects the faults of one operation; faults that occur later are stored in it. */
static nccl_result meet_faults(struct batch *b, struct operation *o, enum kind kind, uint64_t bytes)
{
	int64_t late = 0;
	const unsigned found = faults_of(AT_ISSUE | AT_RUN, b->comm->rank, (int)kind, bytes, &late);
	pause_for(late);
	if (found & 1 << CRASH)
		abort();
	if (found & 1 << HANG) { /* this rank never arrives */
		hang(b->comm);
		return fail(INTERNAL_ERROR, "the communicator was aborted");
	}
	if (found & 1 << OOM)
		return fail(CUDA_FAILED, "Failed to CUDA malloc %llu bytes", (unsigned long long)bytes); /* NCCL's last error then */
	for (int f = WRONG; f <= REMOTE; f++)
		if (found & AT_RUN & 1u << f)
			o->fault = (enum fault)f;
	return OK;
}

static uint64_t size_of(const struct nccl_comm *c, const struct operation *o)
{
	const uint64_t bytes = o->count * type_bytes(o->type);
	const int single = o->kind == ALL_REDUCE || o->kind == BROADCAST || o->kind == REDUCE;
	return single ? bytes : bytes * (uint64_t)c->ranks;
}

typedef nccl_result (*worker)(struct nccl_comm *, const struct operation *);

static void run_operation(struct nccl_comm *c, const struct operation *o, worker work)
{
	int none = OK;
	if (o->fault > WRONG) {
		if (atomic_compare_exchange_strong(&c->async, &none, o->fault == REMOTE ? REMOTE_ERROR : INTERNAL_ERROR))
			fail(INTERNAL_ERROR, "rank %d: an error requested by BUSBAR_REHEARSAL_FAULT", c->rank);
		hang(c);
		return;
	}
	if (work(c, o) || o->fault != WRONG)
		return;
	const size_t n = output_count(c, o);
	if (n)
		((char *)o->recv)[n / 2 * type_bytes(o->type)] ^= 1;
}

static void keep_to_model(struct nccl_comm *c, int64_t until)
{
	enum { ALARM = 100 * 1000 }; /* ns: usual excess of a sleep */
	for (int64_t left; (left = until - now()) > 0 && !atomic_load(&c->aborted);)
		if (left > ALARM)
			pause_for(left - ALARM < 5 * 1000000 ? left - ALARM : 5 * 1000000);
}

static void run(void *context)
{
	struct batch *b = context;
	struct nccl_comm *c = b->comm;
	const struct operation *transfers = NULL;
	pthread_mutex_lock(&c->turn);
	const int64_t start = now();
	for (const struct operation *o = b->first; o && !atomic_load(&c->aborted); o = o->next) {
		if (!is_transfer(o))
			run_operation(c, o, run_collective);
		else if (!transfers || o->fault)
			transfers = o;
	}
	if (transfers && !atomic_load(&c->aborted)) {
		struct operation all = *transfers;
		all.next = b->first;
		run_operation(c, &all, run_transfers);
	}
	if (b->modelled)
		keep_to_model(c, start + b->modelled);
	pthread_mutex_unlock(&c->turn);
	if (b->captured)
		return;
	pthread_mutex_lock(&c->lock);
	c->outstanding--;
	pthread_cond_broadcast(&c->ended);
	pthread_mutex_unlock(&c->lock);
}

/* All sends and receives of the batch; the given operation precedes the first. */
nccl_result run_transfers(struct nccl_comm *c, const struct operation *first)
{
	size_t n = 0;
	struct transfer *all;
	for (const struct operation *o = first->next; o; o = o->next)
		n += (size_t)is_transfer(o);
	if (!(all = malloc(n * sizeof *all)))
		return fail(SYSTEM_ERROR, "out of memory");
	n = 0;
	for (const struct operation *o = first->next; o; o = o->next)
		if (is_transfer(o))
			all[n++] = (struct transfer){.peer = o->root, .receive = o->kind == RECV,
				.at = o->kind == RECV ? o->recv : (char *)o->send, .bytes = o->count * type_bytes(o->type)};
	const nccl_result rc = exchange(c, all, n);
	free(all);
	return rc;
}

static nccl_result prepare(struct batch *b)
{
	struct nccl_comm *c = b->comm;
	struct operation *transfer = NULL;
	nccl_result rc = OK;
	uint64_t bytes;
	for (struct operation *o = b->first; o && !rc; o = o->next) {
		profiler_tell(c, o, size_of(c, o));
		if (is_transfer(o)) {
			/* Wrong data needs an output. */
			if (!transfer || (o->kind == RECV && transfer->kind == SEND))
				transfer = o;
			continue;
		}
		rc = meet_faults(b, o, o->kind == ALL_TO_ALL_V ? ALL_TO_ALL : o->kind, size_of(c, o));
		b->modelled += modelled(o->kind, c->ranks, size_of(c, o));
	}
	if (transfer && !rc) {
		const enum kind kind = shape(b, &bytes);
		rc = meet_faults(b, transfer, kind, bytes);
		b->modelled += modelled(kind, c->ranks, bytes);
	}
	return rc;
}

/* BUSBAR_REHEARSAL_CONNECT: the first operation of a collective waits inside its call for all ranks, as in NCCL since
 * 2.22, which connects there. Does not work for a thread with several communicators in a group. */
static nccl_result connect_ranks(struct nccl_comm *c, const struct operation *o)
{
	const char *set = getenv("BUSBAR_REHEARSAL_CONNECT");
	const int32_t kind = o->kind;
	if (!set || !atoi(set) || is_transfer(o) || c->connected & 1u << kind)
		return OK;
	int32_t *all = malloc((size_t)c->ranks * sizeof *all);
	const nccl_result rc = all ? control_round(c, &kind, sizeof kind, all) : fail(SYSTEM_ERROR, "out of memory");
	free(all);
	c->connected |= 1u << kind;
	return rc;
}

nccl_result launch(struct batch *b)
{
	struct nccl_comm *c = b->comm;
	nccl_result rc = prepare(b);
	for (const struct operation *o = b->first; o && !rc; o = o->next)
		rc = connect_ranks(c, o);
	int captured = 0;
	if (rc) {
		batch_free(b);
		return rc;
	}
	pthread_mutex_lock(&c->lock);
	c->outstanding++;
	pthread_mutex_unlock(&c->lock);
	atomic_fetch_add(&c->references, 1);
	const struct busbar_rehearsal_work work = {run, batch_free, b};
	const cuda_result failed = busbar_rehearsal_enqueue(b->stream, &work, &captured);
	if (failed || captured) {
		/* Runs when a graph is launched, so later than this call. */
		b->captured = captured;
		pthread_mutex_lock(&c->lock);
		c->outstanding--;
		pthread_cond_broadcast(&c->ended);
		pthread_mutex_unlock(&c->lock);
	}
	if (failed) {
		batch_free(b);
		rc = fail(CUDA_FAILED, "Cuda failure %d: the stream does not take the operation", failed);
	}
	comm_put(c);
	return rc;
}
