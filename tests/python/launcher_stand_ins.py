#!/usr/bin/env python3
"""srun, scontrol, torchrun and ssh, as far as docs/launching.md calls them, on the two hosts of
two_hosts.py: they start the processes that the real ones start, with the variables that Slurm's and
PyTorch's manuals name. Which of them it is says the name by which it is called."""

import argparse
import os
import pathlib
import signal
import socket
import subprocess
import sys

from two_hosts import Host

HOSTS = [Host(number, os.environ["DEBUBBLE_TEST_HOSTS"]) for number in (1, 2)]


def start(command, variables, enter=()):
    return subprocess.Popen([*enter, *command],
                            env={**os.environ, **{k: str(v) for k, v in variables.items()}})


def end(jobs):
    """The exit code of the first that has failed, or 0."""
    codes = [job.wait() for job in jobs]
    return next((code for code in codes if code), 0)


def srun(words):
    options = argparse.ArgumentParser()
    options.add_argument("-N", type=int, dest="nodes")
    options.add_argument("-n", type=int, dest="tasks")
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args(words)
    each = asked.tasks // asked.nodes
    return end([start(asked.command, {
        "SLURM_JOB_ID": os.getpid(), "SLURM_STEP_ID": 0, "SLURM_PROCID": task,
        "SLURM_STEP_NUM_TASKS": asked.tasks, "SLURM_NTASKS": asked.tasks,
        "SLURM_STEP_TASKS_PER_NODE": f"{each}(x{asked.nodes})" if asked.nodes > 1 else each,
        "SLURM_NODEID": task // each, "SLURM_LOCALID": task % each,
    }, HOSTS[task // each].enter()) for task in range(asked.tasks)])


def scontrol(words):
    assert words[:2] == ["show", "hostnames"] and words[2] == "host[1-2]", words
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads may want the first line only
    print("host1\nhost2")
    return 0


def torchrun(words):
    options = argparse.ArgumentParser()
    options.add_argument("--standalone", action="store_true")
    options.add_argument("--no-python", action="store_true")
    options.add_argument("--nnodes", type=int, default=1)
    options.add_argument("--node-rank", type=int, default=0)
    options.add_argument("--nproc-per-node", type=int)
    options.add_argument("--master-addr", default="localhost")
    options.add_argument("--master-port", type=int, default=0)
    options.add_argument("--rdzv-backend", choices=["c10d"])
    options.add_argument("--rdzv-endpoint")
    options.add_argument("--rdzv-id", default="none")
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args(words)
    if asked.rdzv_endpoint:  # the agents' own port, beside which the first of them opens another
        asked.master_addr, port = asked.rdzv_endpoint.split(":")
        asked.master_port = int(port) + 1
        asked.node_rank = 0 if socket.gethostname() == asked.master_addr else 1
    port = asked.master_port
    store = None
    if asked.node_rank == 0:  # which serves the agents of all hosts
        store = socket.create_server(("", port))
        port = store.getsockname()[1]
    each = asked.nproc_per_node
    code = end([start(asked.command, {
        "RANK": asked.node_rank * each + local, "LOCAL_RANK": local, "GROUP_RANK": asked.node_rank,
        "WORLD_SIZE": asked.nnodes * each, "LOCAL_WORLD_SIZE": each,
        "MASTER_ADDR": asked.master_addr, "MASTER_PORT": port,
        "TORCHELASTIC_RUN_ID": asked.rdzv_id, "TORCHELASTIC_RESTART_COUNT": 0,
        "TORCHELASTIC_MAX_RESTARTS": 0, "TORCHELASTIC_USE_AGENT_STORE": True,
    }) for local in range(each)])
    if store:
        store.close()
    return code


def ssh(words):
    while words[0].startswith("-"):
        words = words[1:]
    host = next(host for host in HOSTS if host.hostname == words[0])
    return end([start(["sh", "-c", " ".join(words[1:])], {}, host.enter())])


if __name__ == "__main__":
    sys.exit({"srun": srun, "scontrol": scontrol, "torchrun": torchrun, "ssh": ssh}[
        pathlib.Path(sys.argv[0]).name](sys.argv[1:]))
