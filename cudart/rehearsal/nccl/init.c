/* Creation of communicators: unique ids, settings, splits. */
#include "inside.h"

#include <limits.h>
#include <string.h>

nccl_result ncclGetUniqueId(struct nccl_id *out)
{
	struct id id = {.token = 0};
	nccl_result rc = out ? read_settings() : fail(INVALID_ARGUMENT, "GetUniqueId : out argument is NULL");
	if (rc || (rc = open_hub(&id)))
		return rc;
	memset(out, 0, sizeof *out);
	memcpy(out->bytes, &id, sizeof id);
	return OK;
}

/* The fields of ncclConfig_t and the values that NCCL accepts, for its versions in [from, until). If the caller's
 * version is below caller, the field is unset, whatever size the caller passes. */
static const struct rule {
	const char *name;
	size_t at;
	int from, until, caller, minimum, maximum;
} rules[] = {
#define FIELD(name, field, ...) {name, offsetof(struct nccl_config, field), __VA_ARGS__}
	FIELD("blocking", blocking, 21400, INT_MAX, 21400, 0, 1),
	FIELD("cgaClusterSize", cga_cluster_size, 21700, INT_MAX, 21700, 0, INT_MAX),
	FIELD("min/max channels", min_ctas, 21700, INT_MAX, 21700, 1, INT_MAX),
	FIELD("min/max channels", max_ctas, 21700, INT_MAX, 21700, 1, INT_MAX),
	FIELD("splitShare", split_share, 21800, INT_MAX, 0, 0, 1),
	FIELD("trafficClass", traffic_class, 22600, 22700, 0, INT_MIN, INT_MAX),
	FIELD("trafficClass", traffic_class, 22700, INT_MAX, 22500, INT_MIN, INT_MAX),
	FIELD("collnetEnable", collnet, 22700, INT_MAX, 22700, 0, 1),
	FIELD("policy", cta_policy, 22700, 22800, 22700, 0, 1),
	FIELD("policy", cta_policy, 22800, 22900, 22700, 0, 2),
	FIELD("policy", cta_policy, 22900, INT_MAX, 22700, 0, 3), /* both bits */
	FIELD("shrinkShare", shrink_share, 22700, INT_MAX, 22700, 0, 1),
	FIELD("nvlsCTAs", nvls_ctas, 22700, INT_MAX, 22700, 1, INT_MAX),
	FIELD("nChannelsPerNetPeer", channels_per_peer, 22800, INT_MAX, 22800, 1, 64),
	FIELD("nvlinkCentricSched", nvlink_centric, 22800, INT_MAX, 22800, 0, 1),
	FIELD("graphUsageMode", graph_usage, 22900, INT_MAX, 22900, 0, 2),
	FIELD("numRmaCtx", rma_contexts, 22900, 23000, 22900, 1, INT_MAX),
	FIELD("numRmaCtx", rma_contexts, 23000, INT_MAX, 22900, 0, INT_MAX),
	FIELD("maxP2pPeers", max_peers, 23000, INT_MAX, 23000, 1, INT_MAX),
	FIELD("graphStreamOrdering", graph_ordering, 23005, INT_MAX, 23005, 0, 1),
};

/* Reads and validates the fields as the reported version of NCCL does. */
nccl_result read_config(const struct nccl_config *given, struct nccl_config *out)
{
	const int version = reported_version();
	*out = (struct nccl_config){.blocking = UNSET, .min_ctas = UNSET, .max_ctas = UNSET};
	if (!given)
		return OK;
	if (given->magic != (unsigned)CONFIG_MAGIC)
		return fail(INVALID_ARGUMENT, "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
	for (const struct rule *r = rules; r < rules + sizeof rules / sizeof *rules; r++) {
		int value;
		if (version < r->from || version >= r->until || r->at + sizeof value > given->size ||
		    (version >= 21700 && given->version < (unsigned)r->caller))
			continue;
		memcpy(&value, (const char *)given + r->at, sizeof value);
		const int unset = value == UNSET && version >= 21700; /* older versions require a value */
		if (!unset && (value < r->minimum || value > r->maximum))
			return fail(INVALID_ARGUMENT, "Invalid config %s attribute value %d", r->name, value);
		memcpy((char *)out + r->at, &value, sizeof value);
	}
	/* Before 2.31 an unset maximum is compared as its number, INT_MIN. */
	if (out->min_ctas > out->max_ctas && (version < 23100 || out->max_ctas != UNSET))
		return fail(INVALID_ARGUMENT, "Invalid config min/max channels attribute value %d/%d", out->min_ctas,
			    out->max_ctas);
	return OK;
}

static nccl_result init(nccl_comm *out, int ranks, const struct nccl_id *id, int rank,
			const struct nccl_config *config)
{
	nccl_comm c;
	if (!out || !id)
		return fail(INVALID_ARGUMENT, "CommInitRank : an argument is NULL");
	if (ranks < 1 || rank < 0 || rank >= ranks)
		return fail(INVALID_ARGUMENT, "Invalid rank requested : %d/%d", rank, ranks);
	if (memcmp(id->bytes, "REHEARSE", 8) != 0)
		return fail(INVALID_ARGUMENT, "CommInitRank : the unique id is not one of this library");
	nccl_result rc = comm_new(&c, ranks, rank, config, NULL);
	if (rc)
		return rc;
	memcpy(&c->id, id->bytes, sizeof c->id);
	*out = c;
	rc = comm_begin(c, connect_world);
	if (rc && rc != IN_PROGRESS) {
		*out = NULL;
		comm_put(c);
	}
	return rc;
}

nccl_result ncclCommInitRank(nccl_comm *out, int ranks, struct nccl_id id, int rank)
{
	return init(out, ranks, &id, rank, NULL);
}

nccl_result ncclCommInitRankConfig(nccl_comm *out, int ranks, struct nccl_id id, int rank, struct nccl_config *config)
{
	return init(out, ranks, &id, rank, config);
}

nccl_result ncclCommInitRankScalable(nccl_comm *out, int ranks, int rank, int n, struct nccl_id *ids,
				     struct nccl_config *config)
{
	if (n < 1 || n > ranks)
		return fail(INVALID_ARGUMENT, "CommInitRankScalable : %d ids for %d ranks", n, ranks);
	return init(out, ranks, ids, rank, config);
}

nccl_result ncclCommSplit(nccl_comm parent, int color, int key, nccl_comm *out, struct nccl_config *config)
{
	nccl_comm c;
	nccl_result rc = comm_ready(parent);
	if (rc)
		return rc;
	if (!out || color < -1)
		return fail(INVALID_ARGUMENT, "CommSplit : %s", out ? "a color is -1 or more" : "newcomm argument is NULL");
	*out = NULL;
	if ((rc = comm_new(&c, 0, 0, config, parent)))
		return rc;
	c->parent = parent;
	c->color = color;
	c->key = key;
	/* Ranks that get no communicator wait too; this is short. */
	if (color < 0) {
		rc = split_world(c);
		comm_put(c);
		return rc;
	}
	*out = c;
	rc = comm_begin(c, split_world);
	if (rc && rc != IN_PROGRESS) {
		*out = NULL;
		comm_put(c);
	}
	return rc;
}
