#!/usr/bin/env bash
# Writes the configuration of the cluster into $BASE/etc: slurm.conf, gres.conf, mpi.conf, hosts.
# Called by up.sh, which sets BASE, NODES, CPUS, GPUS and TASK.
set -euo pipefail

nodes() { for i in $(seq "$NODES"); do echo "$i"; done; }

slurm_conf() {
  cat <<CONF
ClusterName=busbar
SlurmctldHost=login(10.77.0.254)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
# A requeued job waits as long as a credential is valid.
AuthInfo=socket=$BASE/run/munge.sock,cred_expire=5
StateSaveLocation=$BASE/state
SlurmdSpoolDir=$BASE/spool/%n
SlurmctldPidFile=$BASE/run/slurmctld.pid
SlurmdPidFile=$BASE/run/slurmd.%n.pid
SlurmctldLogFile=$BASE/log/slurmctld.log
SlurmdLogFile=$BASE/log/slurmd.%n.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
MailProg=/bin/true
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/$TASK
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$BASE/log/jobcomp.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=100000
# Allow nodes with more CPUs than the machine.
SlurmdParameters=config_overrides
# A node that registers is up; dead nodes are detected, and their jobs killed, within seconds.
ReturnToService=2
SlurmdTimeout=10
KillWait=5
# Slurm drains a node with a process that it cannot kill, such as one that waits for a lost filesystem; up.sh mend
# resumes it.
UnkillableStepTimeout=600
# The partition urgent preempts main and requeues its jobs.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
GresTypes=gpu
NodeName=DEFAULT CPUs=$CPUS Boards=1 SocketsPerBoard=1 CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=2000 Gres=gpu:$GPUS
$(for i in $(nodes); do echo "NodeName=node$i NodeAddr=10.77.0.$i"; done)
PartitionName=main   Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF
CONF
}

# Slurm requires a character device per GPU; a link to one is enough.
gres_conf() {
  for i in $(seq 0 $((GPUS - 1))); do
    ln -sfn /dev/null "$BASE/dev/nvidia$i"
    echo "Name=gpu File=$BASE/dev/nvidia$i Cores=$((i * CPUS / GPUS))"
  done
}

hosts() {
  echo "127.0.0.1 localhost"
  echo "10.77.0.254 login"
  for i in $(nodes); do echo "10.77.0.$i node$i"; done
}

slurm_conf >"$BASE/etc/slurm.conf"
gres_conf >"$BASE/etc/gres.conf"
hosts >"$BASE/etc/hosts"
# With the tree, Slurm 22.05 lets some ranks leave a barrier early: about 3 of 100 MPI_Init crash or hang.
echo "PMIxCollFence=ring" >"$BASE/etc/mpi.conf"
