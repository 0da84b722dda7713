"""Two ranks on two hosts that are joined by a cable, which all messages take."""

import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from two_hosts import Host, connect, launch_agent, remove, why_not

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
        SUITE, f"--gtest_filter={CASES}"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=DEADLINE, check=False)


def main():
    if reason := why_not():
        print(f"Skipped: {reason}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the hosts are removed
    hosts = [Host(1), Host(2)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            try:
                connect(hosts)
            except OSError as error:
                print(f"Skipped: network namespaces are not allowed here: {error}")
                return 0
            job = train(hosts, pathlib.Path(folder))
            print(job.stdout)
            moved = [host.received() for host in hosts]
            passed = re.search(r"\[  PASSED  \] [1-9]\d* tests?\.", job.stdout)
            print(f"exit code {job.returncode}, bytes received by the hosts: {moved}")
            return 0 if job.returncode == 0 and passed and moved[0] > MOVED else 1
        except subprocess.TimeoutExpired as error:
            print(f"not done in {error.timeout} s:\n{(error.stdout or b'').decode()}")
            return 1
        finally:
            remove(hosts)


if __name__ == "__main__":
    sys.exit(main())
