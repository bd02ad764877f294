/* How communicators are asked for: unique ids, settings, splits. */
#include "inside.h"

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

static const struct nccl_config defaults = {.size = sizeof(struct nccl_config), .magic = (unsigned)CONFIG_MAGIC,
	.version = 23007, .blocking = UNSET, .cga_cluster_size = UNSET, .min_ctas = UNSET, .max_ctas = UNSET,
	.split_share = UNSET, .traffic_class = UNSET, .collnet = UNSET, .cta_policy = UNSET, .shrink_share = UNSET,
	.nvls_ctas = UNSET, .channels_per_peer = UNSET, .nvlink_centric = UNSET, .graph_usage = UNSET,
	.rma_contexts = UNSET, .max_peers = UNSET, .graph_ordering = UNSET};

/* Takes as many bytes as both know, and of those the fields that the caller's version has. */
nccl_result read_config(const struct nccl_config *given, struct nccl_config *out)
{
	static const struct { unsigned version; size_t bytes; } layouts[] = {
		{21700, offsetof(struct nccl_config, cga_cluster_size)}, {21800, offsetof(struct nccl_config, split_share)},
		{22600, offsetof(struct nccl_config, traffic_class)}, {22700, offsetof(struct nccl_config, collnet)},
		{22800, offsetof(struct nccl_config, channels_per_peer)}, {22900, offsetof(struct nccl_config, graph_usage)}};
	size_t bytes;
	*out = defaults;
	if (!given)
		return OK;
	if (given->magic != (unsigned)CONFIG_MAGIC)
		return fail(INVALID_ARGUMENT, "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
	bytes = given->size < sizeof *out ? given->size : sizeof *out;
	for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (given->version < layouts[i].version) {
			bytes = layouts[i].bytes < bytes ? layouts[i].bytes : bytes;
			break;
		}
	memcpy(out, given, bytes);
	const int must_say = given->version < 21700;
	if (out->blocking != 0 && out->blocking != 1 && (must_say || out->blocking != UNSET))
		return fail(INVALID_ARGUMENT, "Invalid config blocking attribute value %d", out->blocking);
	if (out->cga_cluster_size != UNSET && out->cga_cluster_size < 0)
		return fail(INVALID_ARGUMENT, "Invalid config cgaClusterSize attribute value %d", out->cga_cluster_size);
	if ((out->min_ctas != UNSET && out->min_ctas <= 0) || (out->max_ctas != UNSET && out->max_ctas <= 0) ||
	    (out->min_ctas != UNSET && out->max_ctas != UNSET && out->min_ctas > out->max_ctas))
		return fail(INVALID_ARGUMENT, "Invalid config min/max channels attribute value %d/%d",
			    out->min_ctas, out->max_ctas);
	if (out->split_share != UNSET && out->split_share != 0 && out->split_share != 1)
		return fail(INVALID_ARGUMENT, "Invalid config splitShare attribute value %d", out->split_share);
	if (out->cta_policy != UNSET && (out->cta_policy < 0 || out->cta_policy > 3))
		return fail(INVALID_ARGUMENT, "Invalid config CTAPolicy attribute value %d", out->cta_policy);
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
	/* Who gets none waits nevertheless: its part is short. */
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
