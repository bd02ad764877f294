/* Devices: their number, those visible to this process, and their properties. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST = 64, FIRST_BUS = 0x10 };

static struct cuda_context_ devices[MOST];
static int visible;
static int slices = 1; /* slices of each GPU: devices with the same address and different UUIDs */
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

size_t parse_bytes(const char *text, size_t otherwise)
{
	char *end;
	if (!text || !*text)
		return otherwise;
	const unsigned long long n = strtoull(text, &end, 10);
	const char *unit = strchr("KMGT", *end);
	return end == text ? otherwise : (size_t)n << (*end && unit ? 10 * (unit - "KMGT" + 1) : 0);
}

static size_t number_in(const char *path, const char *after)
{
	char line[256];
	size_t found = 0;
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	while (!found && fgets(line, sizeof line, f))
		if (!strncmp(line, after, strlen(after)))
			found = strtoull(line + strlen(after), NULL, 10);
	fclose(f);
	return found;
}

static size_t host_memory(void)
{
	static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
	size_t bytes = number_in("/proc/meminfo", "MemAvailable:") << 10;
	for (int i = 0; i < 2; i++) {
		const size_t limit = number_in(limits[i], "");
		if (limit && limit < bytes)
			bytes = limit;
	}
	return bytes;
}

/* Identical in all processes of a host, and different between hosts. */
static cuda_uuid uuid_of(int physical)
{
	cuda_uuid uuid;
	char name[300];
	uint64_t h = 0xcbf29ce484222325u;
	if (gethostname(name, sizeof name - 16))
		name[0] = 0;
	name[sizeof name - 16] = 0;
	snprintf(name + strlen(name), 16, "/%d", physical);
	for (int half = 0; half < 2; half++) {
		for (const char *p = name; *p; p++)
			h = (h ^ (unsigned char)*p) * 0x100000001b3u;
		memcpy(uuid.bytes + 8 * half, &h, sizeof h);
	}
	return uuid;
}

static void uuid_text(const cuda_uuid *uuid, char text[41])
{
	char *at = text + sprintf(text, "GPU-");
	for (int i = 0; i < 16; i++)
		at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)uuid->bytes[i]);
}

/* The device for an entry of CUDA_VISIBLE_DEVICES: an index or the beginning of a UUID; -1: none. */
static int named(const char *word, int count)
{
	char *end, text[41];
	int found = -1;
	if (strncasecmp(word, "GPU-", 4)) {
		const long n = strtol(word, &end, 10);
		return end == word || *end || n < 0 || n >= count ? -1 : (int)n;
	}
	for (int i = 0; i < count; i++) {
		const cuda_uuid uuid = uuid_of(i);
		uuid_text(&uuid, text);
		if (!strncasecmp(word, text, strlen(word))) {
			if (found >= 0)
				return -1; /* ambiguous */
			found = i;
		}
	}
	return found;
}

/* As in the driver: the devices before the first invalid entry; no device if an entry is repeated. */
static void choose(int count)
{
	const char *set = getenv("CUDA_VISIBLE_DEVICES");
	char *words = set ? strdup(set) : NULL, *rest = words, *word;
	int seen[MOST] = {0}, n = 0, at;
	if (!set)
		for (; n < count; n++)
			devices[n].physical = n;
	while (words && (word = strsep(&rest, ",")) && (at = named(word + strspn(word, " "), count)) >= 0) {
		if (seen[at]++) {
			n = 0;
			break;
		}
		devices[n++].physical = at;
	}
	free(words);
	visible = n;
}

cuda_result rehearse_init(unsigned flags)
{
	const char *gpus = getenv("BUSBAR_REHEARSAL_GPUS");
	if (flags)
		return INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (!ready) {
		int count = gpus && *gpus ? atoi(gpus) : 8;
		count = count < 0 ? 0 : count > MOST ? MOST : count;
		choose(count);
		const char *cut = getenv("BUSBAR_REHEARSAL_SLICES");
		slices = cut && atoi(cut) > 1 ? atoi(cut) : 1;
		const size_t each = parse_bytes(getenv("BUSBAR_REHEARSAL_MEMORY"), count ? host_memory() / (size_t)count : 0);
		for (int i = 0; i < visible; i++) {
			devices[i].ordinal = i;
			devices[i].uuid = uuid_of(devices[i].physical);
			devices[i].bytes = each >> 20 << 20;
		}
		ready = 1;
	}
	pthread_mutex_unlock(&lock);
	return visible ? CUDA_OK : CUDA_NO_DEVICE;
}

static int initialized(void)
{
	pthread_mutex_lock(&lock);
	const int is = ready;
	pthread_mutex_unlock(&lock);
	return is;
}

cuda_result device_of(cuda_device d, cuda_context *out)
{
	if (!initialized())
		return NOT_INITIALIZED;
	if (d < 0 || d >= visible)
		return INVALID_DEVICE;
	*out = &devices[d];
	return CUDA_OK;
}

/* BUSBAR_REHEARSAL_CAPABILITY=8.0 is 80. */
int compute_capability(void)
{
	const char *set = getenv("BUSBAR_REHEARSAL_CAPABILITY");
	int major, minor;
	return set && sscanf(set, "%d.%d", &major, &minor) == 2 ? 10 * major + minor : 90;
}

int bus_of(const struct cuda_context_ *c) { return FIRST_BUS + c->physical / slices; }

cuda_result rehearse_driver_version(int *version)
{
	*version = 12080;
	return CUDA_OK;
}

cuda_result rehearse_device_count(int *count)
{
	if (!initialized())
		return NOT_INITIALIZED;
	*count = visible;
	return CUDA_OK;
}

cuda_result rehearse_device_get(cuda_device *out, int ordinal)
{
	cuda_context c;
	const cuda_result rc = device_of(ordinal, &c);
	if (!rc)
		*out = ordinal;
	return rc;
}

cuda_result rehearse_device_name(char *name, int room, cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (!rc)
		snprintf(name, (size_t)room, "Rehearsed GPU");
	return rc;
}

cuda_result rehearse_device_uuid(cuda_uuid *uuid, cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (!rc)
		*uuid = c->uuid;
	return rc;
}

/* The older function returns the UUID of the whole GPU. */
cuda_result rehearse_device_uuid_whole(cuda_uuid *uuid, cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (!rc)
		*uuid = slices > 1 ? uuid_of(MOST + c->physical / slices) : c->uuid;
	return rc;
}

cuda_result rehearse_device_pci(char *text, int room, cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (!rc)
		snprintf(text, (size_t)room, "0000:%02x:00.0", bus_of(c));
	return rc;
}

cuda_result rehearse_device_memory(size_t *bytes, cuda_device d)
{
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (!rc)
		*bytes = c->bytes;
	return rc;
}

cuda_result rehearse_device_attribute(int *value, int attribute, cuda_device d)
{
	enum { THREADS_PER_BLOCK = 1, WARP = 10, MULTIPROCESSORS = 16, MAPS_HOST = 19, PCI_BUS = 33, UNIFIED = 41,
		MAJOR = 75, MINOR = 76, HOST_NUMA = 134, ATTRIBUTES = 160 };
	cuda_context c;
	const cuda_result rc = device_of(d, &c);
	if (rc)
		return rc;
	if (attribute < 1 || attribute >= ATTRIBUTES)
		return INVALID_VALUE;
	switch (attribute) {
	case THREADS_PER_BLOCK: *value = 1024; break;
	case WARP: *value = 32; break;
	case MULTIPROCESSORS: case MAPS_HOST: case UNIFIED: *value = 1; break;
	case PCI_BUS: *value = bus_of(c); break;
	case MAJOR: *value = compute_capability() / 10; break;
	case MINOR: *value = compute_capability() % 10; break;
	case HOST_NUMA: *value = -1; break;
	default: *value = 0;
	}
	return CUDA_OK;
}

cuda_result rehearse_can_access_peer(int *can, cuda_device d, cuda_device peer)
{
	cuda_context a, b;
	cuda_result rc = device_of(d, &a);
	if (!rc && !(rc = device_of(peer, &b)))
		*can = d != peer;
	return rc;
}

cuda_result rehearse_peer_attribute(int *value, int attribute, cuda_device from, cuda_device to)
{
	enum { PERFORMANCE_RANK = 1, ACCESS = 2 };
	int can = 0;
	const cuda_result rc = rehearse_can_access_peer(&can, from, to);
	if (rc || !can)
		return rc ? rc : INVALID_DEVICE;
	*value = attribute == PERFORMANCE_RANK ? 0 : attribute == ACCESS;
	return CUDA_OK;
}
