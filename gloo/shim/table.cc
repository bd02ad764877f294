/* The one exported symbol. */
#include "shim.h"

#include <dlfcn.h>
#include <gloo/config.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

namespace {

const char *path()
{
	Dl_info found;
	return dladdr(reinterpret_cast<void *>(&gloo::transport::tcp::CreateDevice), &found) && found.dli_fname ? found.dli_fname : "";
}

int create(const busbar_gloo_create *how, busbar_gloo_context **out, busbar_gloo_error *e)
{
	*out = nullptr;
	try {
		*out = new busbar_gloo_context(*how);
		return BUSBAR_GLOO_OK;
	} catch (...) {
		return describe_exception(*e);
	}
}

/* Runs what belongs to a context, and gives its error. */
template <class Do> int within(busbar_gloo_context *c, busbar_gloo_error *e, Do &&run)
{
	try {
		run();
		return BUSBAR_GLOO_OK;
	} catch (...) {
		int status = c->failed();
		c->last(*e);
		return status;
	}
}

int64_t address_bytes(const busbar_gloo_context *) { return busbar_gloo_context::address_bytes; }

int addresses(busbar_gloo_context *c, void *out, busbar_gloo_error *e)
{
	return within(c, e, [&] { c->addresses(static_cast<char *>(out)); });
}

int connect(busbar_gloo_context *c, const void *all, busbar_gloo_error *e)
{
	return within(c, e, [&] { c->connect(static_cast<const char *>(all)); });
}

const char *device(const busbar_gloo_context *c) { return c->device_text.c_str(); }

int thread(const busbar_gloo_context *c) { return c->thread; }

void interrupt(busbar_gloo_context *c)
{
	try {
		c->interrupt();
	} catch (...) { /* the pairs that are left end with the process */
	}
}

void last_error(const busbar_gloo_context *c, busbar_gloo_error *e) { c->last(*e); }

void destroy(busbar_gloo_context *c) { delete c; }

} // namespace

extern "C" __attribute__((visibility("default"))) const busbar_gloo busbar_gloo = {
	BUSBAR_GLOO_ABI,
	NUMBER(GLOO_VERSION_MAJOR) "." NUMBER(GLOO_VERSION_MINOR) "." NUMBER(GLOO_VERSION_PATCH),
	path,
	create,
	address_bytes,
	addresses,
	connect,
	device,
	thread,
	interrupt,
	last_error,
	destroy,
	prepare,
	release,
};
