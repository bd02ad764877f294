/* Connects the ranks of a communicator. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The content of the first round. */
struct card {
	struct place place;
	uint64_t token; /* rank 0's is the communicator's */
	int32_t pid, inbox, bus, version, share_gpu, capability;
};

static int first_here(const struct card *cards, int rank)
{
	int first = 0;
	while (cards[first].place.host != cards[rank].place.host)
		first++;
	return first;
}

static nccl_result check_cards(const struct nccl_comm *c, const struct card *cards)
{
	const struct card *mine = &cards[c->rank];
	for (int i = 0; i < c->ranks; i++)
		if (cards[i].version != mine->version)
			return fail(INVALID_USAGE, "Mismatched NCCL version detected : rank %d version %d rank %d version %d",
				    i, cards[i].version, c->rank, mine->version);
	/* NCCL compares addresses, which slices of one GPU (MIG) share. Since 2.30 the first rank of a host may allow
	 * them. */
	for (int i = 0; i < c->ranks; i++)
		for (int j = 0; j < i; j++) {
			if (cards[i].place.host != cards[j].place.host || cards[i].bus != cards[j].bus)
				continue;
			if (mine->version < 23000)
				return fail(INVALID_USAGE, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %x",
					    j, i, (unsigned)cards[i].bus << 12);
			if (!cards[first_here(cards, i)].share_gpu)
				return fail(INVALID_USAGE, "Multiple ranks detected using the same GPU : rank %d and rank %d",
					    j, i);
		}
	return OK;
}

/* Few ranks: larger rings. */
static uint64_t ring_bytes(int ranks)
{
	uint64_t bytes = 1 << 20;
	while (bytes > 16 << 10 && bytes * (uint64_t)ranks * (uint64_t)ranks > 64 << 20)
		bytes /= 2;
	return bytes;
}

/* Shared memory with peers of the same host, if both sides opened it. */
static nccl_result share_memory(struct nccl_comm *c, const struct card *cards)
{
	const size_t n = (unsigned)c->ranks;
	unsigned char *mine = calloc(n, 1), *all = calloc(n, n);
	nccl_result rc = mine && all ? OK : fail(SYSTEM_ERROR, "out of memory");
	int here = 0;
	for (int i = 0; i < c->ranks && !rc; i++) {
		if (i == c->rank || cards[i].place.machine != cards[c->rank].place.machine)
			continue;
		inbox_map(c, i, cards[i].pid, cards[i].inbox);
		mine[i] = c->links[i].theirs != NULL;
	}
	if (!rc)
		rc = control_round(c, mine, n, all);
	for (int i = 0; i < c->ranks && !rc; i++) {
		here += mine[i];
		if (!all[(size_t)i * n + (size_t)c->rank])
			inbox_drop(c, i);
	}
	/* Spinning helps only if every rank has a core for this thread and one for the program's. */
	c->spins = 2 * (here + 1) <= sysconf(_SC_NPROCESSORS_ONLN) ? 2000 : 0;
	free(mine);
	free(all);
	return rc;
}

static nccl_result allocate(struct nccl_comm *c)
{
	const size_t n = (size_t)c->ranks;
	c->links = calloc(n, sizeof *c->links);
	c->parts = calloc(n, sizeof *c->parts);
	c->sources = calloc(n, sizeof *c->sources);
	c->counts = calloc(n, sizeof *c->counts);
	c->transfers = calloc(2 * n, sizeof *c->transfers);
	c->scratch = malloc(SCRATCH + 64 * n);
	if (!c->links || !c->parts || !c->sources || !c->counts || !c->transfers || !c->scratch)
		return fail(SYSTEM_ERROR, "out of memory");
	for (size_t i = 0; i < n; i++)
		c->links[i].fd = -1;
	return OK;
}

static nccl_result connect_cards(struct nccl_comm *c, int listener, int *inbox, struct card *card, struct card *cards)
{
	nccl_result rc = control_round(c, card, sizeof *card, cards), ok = OK, *all;
	if (rc)
		return rc;
	if (check_cards(c, cards)) {
		/* All ranks get the same result, and none returns before all have it. */
		if ((all = calloc((size_t)c->ranks, sizeof *all)))
			control_round(c, &ok, sizeof ok, all);
		free(all);
		return check_cards(c, cards);
	}
	c->capability = card->capability;
	for (int i = 0; i < c->ranks; i++)
		if (cards[i].capability < c->capability)
			c->capability = cards[i].capability;
	if ((rc = share_memory(c, cards)))
		return rc;
	close(*inbox);
	*inbox = -1;
	if ((rc = sockets_open(c, listener, &cards->place, sizeof *cards)))
		return rc;
	if (!(all = calloc((size_t)c->ranks, sizeof *all)))
		return fail(SYSTEM_ERROR, "out of memory");
	rc = control_round(c, &ok, sizeof ok, all);
	free(all);
	return rc;
}

nccl_result connect_world(struct nccl_comm *c)
{
	struct card card = {.pid = getpid(), .inbox = -1, .bus = c->device.bus, .capability = c->device.capability,
		.version = reported_version()};
	const char *share = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
	struct card *cards = NULL;
	int listener = -1, inbox = -1;
	nccl_result rc = OK;
	if (faults_of(1 << INIT_HANG, c->rank, -1, 0, NULL))
		while (!atomic_load(&c->aborted))
			pause_for(10 * 1000000);
	if (atomic_load(&c->aborted))
		return fail(INTERNAL_ERROR, "the communicator was aborted");
	card.share_gpu = share && atoi(share);
	c->ring_bytes = ring_bytes(c->ranks);
	c->token = c->id.token;
	if ((rc = allocate(c)))
		return rc;
	if (!(cards = calloc((size_t)c->ranks, sizeof *cards)) || (listener = listen_here(&card.place)) < 0 ||
	    inbox_open(c, &inbox))
		rc = fail(SYSTEM_ERROR, "rank %d: no memory or socket to connect with", c->rank);
	card.inbox = inbox;
	if (!rc && !(rc = control_open(c, &c->id)))
		rc = connect_cards(c, listener, &inbox, &card, cards);
	if (rc)
		control_close(c, 0);
	if (listener >= 0)
		close(listener);
	if (inbox >= 0)
		close(inbox);
	free(cards);
	return rc;
}

/* Among the parent's ranks: members of the new world, their order, and its unique id. */
nccl_result split_world(struct nccl_comm *c)
{
	struct choice { int32_t color, key; } mine = {c->color, c->key}, *all;
	struct nccl_comm *p = c->parent;
	struct nccl_id id = {{0}}, *ids = calloc((size_t)p->ranks, sizeof *ids);
	int leader = -1;
	nccl_result rc;
	all = calloc((size_t)p->ranks, sizeof *all);
	rc = all && ids ? control_round(p, &mine, sizeof mine, all) : fail(SYSTEM_ERROR, "out of memory");
	c->rank = c->ranks = 0;
	for (int i = 0; i < p->ranks && !rc && mine.color >= 0; i++) {
		if (all[i].color != mine.color)
			continue;
		c->ranks++;
		c->rank += all[i].key < mine.key || (all[i].key == mine.key && i < p->rank);
		if (leader < 0)
			leader = i;
	}
	if (!rc && leader == p->rank)
		rc = ncclGetUniqueId(&id);
	if (!rc)
		rc = control_round(p, &id, sizeof id, ids);
	if (!rc && mine.color >= 0)
		memcpy(&c->id, ids[leader].bytes, sizeof c->id);
	free(all);
	free(ids);
	return rc || mine.color < 0 ? rc : connect_world(c);
}
