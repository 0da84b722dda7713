"""Every line of docs/launching.md trains, on two hosts, and so do two ranks on each.
REAL_TORCHRUN=path takes that torchrun instead of the stand-in; REAL_SRUN and the others likewise."""

import os
import pathlib
import re
import subprocess
import sys

from tiny_gpt import write_tiny_gpt
from two_hosts import on_two_hosts

PAGE, PROGRAM, MPIRUN = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
IN_TIME = 100  # seconds of a block of lines
MOVED = 50_000  # bytes at least: some half of what the messages of a training have
LAST_STEP = "step 2/2"
TWO_RANKS_PER_HOST = [
    "srun -N 2 -n 4 debubble run four.yaml --comm tcp --rendezvous four.job --deadline 60\n",
    "export DEBUBBLE_JOB_SECRET=$(openssl rand -hex 32) MASTER_ADDR=host1 MASTER_PORT=29501\n"
    "srun -N 2 -n 4 debubble run four.yaml --comm tcp --deadline 60\n",
]


def blocks(page):
    """The page's lines: those of a block are run together."""
    found = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    if not MPIRUN.exists() or not PROGRAM.with_name("debubble_mpi.so").exists():
        found = [re.sub(r"^mpirun.*\n", "", block, flags=re.MULTILINE) for block in found]
    return [block for block in found if block]


def environment(folder, hosts):
    programs = folder / "programs"
    programs.mkdir()
    stand_ins = next(at for at in (pathlib.Path(path) / "launcher_stand_ins.py"
                                   for path in sys.path) if at.exists())
    for name in ("srun", "scontrol", "torchrun", "ssh"):
        (programs / name).symlink_to(os.environ.get(f"REAL_{name.upper()}", stand_ins))
    if MPIRUN.exists():
        (programs / "mpirun").symlink_to(MPIRUN)
    unasked = ("OMPI_COMM_", "PMI", "SLURM_", "MASTER_", "DEBUBBLE_", "XDG_RUNTIME_DIR")
    alone = {key: value for key, value in os.environ.items() if not key.startswith(unasked)}
    return {**alone, "PATH": f"{programs}:{PROGRAM.parent}:{os.environ['PATH']}",
            "TMPDIR": str(folder), "SLURM_JOB_NODELIST": "host[1-2]",
            "DEBUBBLE_TEST_HOSTS": str(os.getpid()),
            "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_tcp_if_include": "10.213.7.0/24",
            "OMPI_MCA_oob_tcp_if_include": "10.213.7.0/24"}


def run_block(block, hosts, env, folder):
    """The output on the hosts that it is for. It fails like its first line that does."""
    on_both = "$NODE_RANK" in block or "--rdzv" in block
    where = hosts if on_both else hosts[:1]
    jobs = [subprocess.Popen([*host.enter(), "bash", "-ec", block], cwd=folder,
                             env={**env, "NODE_RANK": str(number)}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for number, host in enumerate(where)]
    try:
        said = [job.communicate(timeout=IN_TIME)[0] for job in jobs]
    except subprocess.TimeoutExpired:
        for job in jobs:
            job.kill()
        return f"not done in {IN_TIME} s: " + "".join(job.communicate()[0] for job in jobs), False
    return "".join(said), not any(job.returncode for job in jobs)


def trains(block, hosts, env, folder):
    before = sum(host.received() for host in hosts)
    output, well = run_block(block, hosts, env, folder)
    moved = sum(host.received() for host in hosts) - before
    trainings = len(re.findall(r"\bdebubble run\b", block))
    well = well and output.count(LAST_STEP) == trainings
    if "host1" in block or "-N 2" in block:
        well = well and moved > MOVED
    print(f"{block}-> {'as it should' if well else 'FAILED'}, {moved} bytes between the hosts\n",
          flush=True)
    if not well:
        print(output)
    return well


def body(hosts, folder):
    with write_tiny_gpt(folder).rename(folder / "mine.yaml").open("a") as scenario:
        scenario.write("  steps: 2\n")
    (folder / "four.yaml").write_text(
        (folder / "mine.yaml").read_text().replace("gpus: 2", "gpus: 4")
        .replace("pipeline: 2", "pipeline: 4"))
    env = environment(folder, hosts)
    found = blocks(PAGE)
    results = [trains(block, hosts, env, folder) for block in found + TWO_RANKS_PER_HOST]
    print(f"{sum(results)} of {len(results)} blocks")
    return 0 if found and all(results) else 1


if __name__ == "__main__":
    sys.exit(on_two_hosts(body))
