/* Capture and graphs: a graph is the list of enqueued work, in order. */
#include "driver.h"

#include <stdlib.h>

/* An executable graph; it shares the graph's work. */
struct cuda_graph_exec_ {
	cuda_graph graph;
};

void release_graph(void *context)
{
	cuda_graph g = context;
	struct entry *next;
	if (atomic_fetch_sub(&g->references, 1) > 1)
		return;
	for (struct entry *e = g->work.first; e; e = next) {
		next = e->next;
		e->work.release(e->work.context);
		free(e);
	}
	free(g);
}

static void run(void *context)
{
	const cuda_graph g = context;
	for (struct entry *e = g->work.first; e; e = e->next)
		e->work.run(e->work.context);
}

cuda_result rehearse_capture_begin(cuda_stream s, int mode)
{
	cuda_graph g;
	cuda_result rc = CUDA_OK;
	/* The default stream cannot be captured. */
	if (mode < 0 || mode > 2 || (uintptr_t)s <= 2)
		return mode < 0 || mode > 2 ? INVALID_VALUE : CAPTURE_UNSUPPORTED;
	if (!(g = calloc(1, sizeof *g)))
		return CUDA_OUT_OF_MEMORY;
	atomic_init(&g->references, 1);
	g->work.end = &g->work.first;
	pthread_mutex_lock(&s->lock);
	if (s->capture) {
		rc = INVALID_VALUE;
	} else {
		s->capture = g;
		s->broken = 0;
		g = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	free(g);
	return rc;
}

cuda_result rehearse_capture_end(cuda_stream s, cuda_graph *out)
{
	if ((uintptr_t)s <= 2)
		return INVALID_VALUE;
	pthread_mutex_lock(&s->lock);
	cuda_graph g = s->capture;
	const int broken = s->broken;
	s->capture = NULL;
	pthread_mutex_unlock(&s->lock);
	*out = broken ? NULL : g;
	if (!g)
		return CAPTURE_UNMATCHED;
	if (broken)
		release_graph(g);
	return broken ? CAPTURE_INVALIDATED : CUDA_OK;
}

cuda_result rehearse_graph_instantiate(cuda_graph_exec *out, cuda_graph g, unsigned long long flags)
{
	cuda_graph_exec e = g && !flags ? malloc(sizeof *e) : NULL;
	if (!e)
		return g && !flags ? CUDA_OUT_OF_MEMORY : INVALID_VALUE;
	atomic_fetch_add(&g->references, 1);
	e->graph = g;
	*out = e;
	return CUDA_OK;
}

cuda_result rehearse_graph_launch(cuda_graph_exec e, cuda_stream s)
{
	if (!e)
		return INVALID_VALUE;
	atomic_fetch_add(&e->graph->references, 1);
	const cuda_result rc = enqueue(s, (struct busbar_rehearsal_work){run, release_graph, e->graph}, NULL);
	if (rc)
		release_graph(e->graph);
	return rc;
}

cuda_result rehearse_graph_destroy(cuda_graph g)
{
	if (!g)
		return INVALID_VALUE;
	release_graph(g);
	return CUDA_OK;
}

cuda_result rehearse_graph_exec_destroy(cuda_graph_exec e)
{
	if (!e)
		return INVALID_VALUE;
	release_graph(e->graph);
	free(e);
	return CUDA_OK;
}
