/* A part of the bundle's shim for Open MPI only. Open MPI searches plugins and settings in the folders of its
 * configuration, or under OPAL_PREFIX. The bundle can be moved, so its shim sets OPAL_PREFIX before MPI starts.
 * Variables of another Open MPI would load plugins that do not fit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const foreign[] = {
	"OPAL_EXEC_PREFIX", "OPAL_BINDIR",     "OPAL_LIBDIR",	"OPAL_DATADIR",
	"OPAL_SYSCONFDIR",  "OPAL_PKGDATADIR", "OPAL_PKGLIBDIR",
};

/* Debian's PMIx has fixed library folders that do not follow its prefix. */
static const struct {
	const char *name, *folder;
} ours[] = {
	{ "OPAL_PREFIX", "openmpi" },
	{ "PMIX_PREFIX", "openmpi/pmix" },
	{ "PMIX_PKGLIBDIR", "openmpi/pmix/lib/pmix" },
	{ "PMIX_PKGDATADIR", "openmpi/pmix/share/pmix" },
	{ "HWLOC_PLUGINS_PATH", "openmpi/hwloc" },
	{ "OMPI_MCA_mca_base_param_files", "openmpi/etc/openmpi-mca-params.conf" },
};

/* The bundle's folder: two above this library's file, symbolic links resolved. */
static int find_bundle(char bundle[PATH_MAX])
{
	Dl_info self;
	if (!dladdr(ours, &self) || !self.dli_fname || !realpath(self.dli_fname, bundle))
		return 0;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(bundle, '/');
		if (!slash)
			return 0;
		*slash = 0;
	}
	return 1;
}

__attribute__((constructor)) static void set_prefix(void)
{
	char bundle[PATH_MAX], path[PATH_MAX + 64];
	if (!find_bundle(bundle))
		return;
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		unsetenv(foreign[i]);
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		snprintf(path, sizeof path, "%s/%s", bundle, ours[i].folder);
		setenv(ours[i].name, path, 1);
	}
	/* Under mpirun the settings are its own, with those of its command line; without it they belong to another MPI. */
	if (getenv("OMPI_COMM_WORLD_SIZE"))
		return;
	setenv("OMPI_MCA_pml", "ob1", 1);
	setenv("OMPI_MCA_btl", "self,vader,tcp", 1);
	unsetenv("OMPI_MCA_mtl");
	/* A rank started alone starts no other processes and needs no daemon. */
	setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
}
