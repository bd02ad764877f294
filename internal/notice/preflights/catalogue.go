// Package preflights has the notices of rank --preflight: what is ready for a run, and what is not.
package preflights

import (
	_ "embed" // for catalogue.txt

	"busbar/internal/notice"
)

//go:embed catalogue.txt
var catalogue string

func init() {
	notice.Register(catalogue,
		NoRDMADevice{}, RDMAPorts{}, RDMAPortsDown{}, RDMALinkNarrow{}, RDMANotPermitted{}, IOMMU{}, IOMMUTranslates{},
		ACSBridges{}, ACSHidden{}, ACSRedirects{}, GPUsUnused{}, GPUsVisible{}, SimulatedGPUs{}, GPUDriverUnusable{},
		NoGPUVisible{}, NCCLInUse{}, NCCLUnusable{}, NCCLWithoutGPUCode{}, NCCLNeedsNewerDriver{}, OwnGPUs{},
		GPUSlices{}, GPULibrariesAlike{}, NCCLVersionsDiffer{}, GPUDriversDiffer{}, GPUModelsDiffer{}, GPUMemory{},
		GPUMemoryShort{}, PeerAccess{}, PeerAccessUnknown{}, NoPeerAccess{}, GPUStateUnknown{}, GPUsHealthy{},
		GPUMemoryErrors{}, GPUClocksReduced{}, GPUWithoutECC{}, GPUPersistenceOff{}, Peermem{}, PeermemMissing{},
		NCCLNetwork{}, EFAWithoutPlugin{}, OneHost{}, HostsAlike{}, HostsDiffer{}, RanksAcrossNUMA{}, CPUGovernor{},
		SlowGovernor{}, NUMABalancing{}, NUMABalancingOn{}, CPULoad{}, HostBusy{}, HostBuffers{}, HostMemoryShort{},
		HostMemoryUnknown{}, SharedMemory{}, ShmTooSmall{}, ShmSmallForNCCL{}, NoShm{}, LockedMemory{},
		MemlockLimited{}, OpenFiles{}, OpenFilesLimited{}, OutputFolder{}, OutputFull{}, OutputUnusable{}, MPIInUse{},
		TCPInUse{}, OneRankLaunch{}, ThreadLevel{}, MPIUnusable{}, BackendUnavailable{}, BackendNotTried{},
		SideChannel{}, SideChannelClosed{}, SideChannelIncomplete{}, OneClock{}, ClocksCompared{}, ClocksUncertain{},
		CollectiveCorrect{}, CollectiveWrong{}, CollectiveFailed{}, PreflightStopped{})
}
