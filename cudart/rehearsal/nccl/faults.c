/* Fault injection: BUSBAR_REHEARSAL_FAULT='kind[:value]@key=value,…[;…]'. */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"", "wrong", "late", "hang", "oom", "async-error", "remote-error", "init-hang",
	"abort-hang", "crash", "other-gpu"};
static const char *const collectives[KINDS] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
	"alltoall", "gather", "scatter", "sendrecv"};

struct wish {
	enum fault kind;
	int64_t late; /* ns */
	int64_t rank, collective, size, iteration; /* -1: any */
	char phase[32];
	int64_t matched;
};

static struct wish wishes[32];
static int count;
static char phase[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
nccl_result read_model(const char *);

void busbar_rehearsal_phase(const char *name)
{
	pthread_mutex_lock(&lock);
	snprintf(phase, sizeof phase, "%s", name ? name : "");
	pthread_mutex_unlock(&lock);
}

static int find(const char *word, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (*words[i] && !strcmp(words[i], word))
			return i;
	return -1;
}

/* A duration such as 20ms, in ns; -1: invalid. */
static int64_t duration(const char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "m"};
	static const double ns[] = {1, 1e3, 1e6, 1e9, 60e9};
	char *end;
	const double n = strtod(text, &end);
	const int unit = find(end, units, 5);
	return end == text || unit < 0 || n < 0 || n > 1e9 ? -1 : (int64_t)(n * ns[unit]);
}

static int64_t whole(const char *text)
{
	char *end;
	const int64_t n = strtoll(text, &end, 10);
	return end == text || *end || n < 0 ? -1 : n;
}

/* Parses one key=value; returns an error text, or NULL. */
static const char *read_key(struct wish *w, char *word)
{
	const int not_issued = w->kind == INIT_HANG || w->kind == ABORT_HANG || w->kind == OTHER_GPU;
	char *value = strchr(word, '=');
	int64_t *number = NULL;
	if (!value)
		return "a key has no value";
	*value++ = 0;
	if (!strcmp(word, "phase")) {
		snprintf(w->phase, sizeof w->phase, "%s", value);
		return *value ? NULL : "the phase is empty";
	}
	if (!strcmp(word, "rank"))
		number = &w->rank;
	else if (not_issued)
		return "init-hang, abort-hang and other-gpu know the keys rank and phase only";
	else if (!strcmp(word, "collective"))
		return (w->collective = find(value, collectives, KINDS)) < 0 ? "no such collective" : NULL;
	else if (!strcmp(word, "size"))
		number = &w->size;
	else if (!strcmp(word, "iteration"))
		number = &w->iteration;
	else
		return "the keys are rank, collective, size, iteration and phase";
	return (*number = whole(value)) < 0 ? "rank, size and iteration are whole numbers" : NULL;
}

static const char *read_wish(struct wish *w, char *text)
{
	char *keys = text, *word, *value;
	const char *wrong = NULL;
	*w = (struct wish){.rank = -1, .collective = -1, .size = -1, .iteration = -1};
	text = strsep(&keys, "@");
	value = strchr(text, ':');
	if (value)
		*value++ = 0;
	const int kind = find(text, kinds, OTHER_GPU + 1);
	if (kind < 0)
		return "the kinds are wrong, late:DURATION, hang, oom, async-error, remote-error, init-hang, abort-hang, "
		       "crash and other-gpu";
	w->kind = (enum fault)kind;
	if ((kind == LATE) != (value != NULL) || (value && (w->late = duration(value)) < 0))
		return kind == LATE ? "late requires a duration, as in late:20ms" : "only late has a value after a colon";
	while (!wrong && (word = strsep(&keys, ",")))
		wrong = read_key(w, word);
	return wrong;
}

static nccl_result read_faults(const char *set)
{
	char text[4096], *rest = text, *one;
	const char *wrong = NULL;
	snprintf(text, sizeof text, "%s", set ? set : "");
	while (!wrong && (one = strsep(&rest, ";"))) {
		if (!*one)
			continue;
		wrong = count == sizeof wishes / sizeof *wishes ? "too many faults" : read_wish(&wishes[count], one);
		count += !wrong;
	}
	if (!wrong)
		return OK;
	fprintf(stderr, "simulation: BUSBAR_REHEARSAL_FAULT='%s': %s\n", set, wrong);
	return fail(INVALID_USAGE, "BUSBAR_REHEARSAL_FAULT='%s': %s", set, wrong);
}

nccl_result read_settings(void)
{
	static int done;
	static nccl_result rc;
	pthread_mutex_lock(&lock);
	if (!done && !(rc = read_faults(getenv("BUSBAR_REHEARSAL_FAULT"))))
		rc = read_model(getenv("BUSBAR_REHEARSAL_MODEL"));
	done = 1;
	pthread_mutex_unlock(&lock);
	return rc;
}

unsigned faults_of(unsigned wanted, int rank, int collective, uint64_t bytes, int64_t *late)
{
	unsigned found = 0;
	if (!count)
		return 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count; i++) {
		struct wish *w = &wishes[i];
		if (!(wanted >> w->kind & 1) || (w->rank >= 0 && w->rank != rank) ||
		    (w->collective >= 0 && w->collective != collective) ||
		    (w->size >= 0 && (uint64_t)w->size != bytes) || (*w->phase && strcmp(w->phase, phase) != 0))
			continue;
		if (w->iteration >= 0 && w->matched++ != w->iteration)
			continue;
		found |= 1u << w->kind;
		if (late)
			*late += w->late;
	}
	pthread_mutex_unlock(&lock);
	return found;
}
