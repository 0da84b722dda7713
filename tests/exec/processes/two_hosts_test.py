"""Two ranks on two hosts that are joined by a cable, which all messages take."""

import re
import subprocess
import sys

from two_hosts import launch_agent, on_two_hosts

MPIRUN, SUITE = sys.argv[1:3]
DEADLINE = 240  # seconds of the whole job
CASES = "*1f1b_p2*:*zb_v_p2*:*dp2:*zero3:*tp2_sp"
MOVED = 1_000_000  # bytes at least: less than the weights and gradients that rank 1 reports


def train(hosts, folder):
    near, far = hosts
    command = near.enter() + [
        MPIRUN, "-n", "2", "--host", f"{near.address}:1,{far.address}:1", "--map-by", "node",
        "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(launch_agent(folder, far)),
        "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
        "--mca", "btl_tcp_if_include", "10.213.7.0/24",
        "--mca", "oob_tcp_if_include", "10.213.7.0/24",
        "--mca", "orte_tmpdir_base", str(folder),
        SUITE, "mpi", f"--gtest_filter={CASES}"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=DEADLINE, check=False)


def body(hosts, folder):
    try:
        job = train(hosts, folder)
    except subprocess.TimeoutExpired as error:
        print(f"not done in {error.timeout} s:\n{(error.stdout or b'').decode()}")
        return 1
    print(job.stdout)
    moved = [host.received() for host in hosts]
    passed = re.search(r"\[  PASSED  \] [1-9]\d* tests?\.", job.stdout)
    print(f"exit code {job.returncode}, bytes received by the hosts: {moved}")
    return 0 if job.returncode == 0 and passed and moved[0] > MOVED else 1


if __name__ == "__main__":
    sys.exit(on_two_hosts(body))
