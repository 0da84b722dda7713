"""Two ranks on two hosts: network namespaces with names of their own, joined by a cable (veth)
that all messages take. Needs root and the right to make namespaces."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

MPIRUN, SUITE = sys.argv[1:3]
DEADLINE = 240  # seconds of the whole job
CASES = "*1f1b_p2*:*zb_v_p2*:*dp2:*zero3:*tp2_sp"
MOVED = 1_000_000  # bytes at least: less than the weights and gradients that rank 1 reports


class Host:
    def __init__(self, number):
        self.name = f"debubble-{os.getpid()}-{number}"
        self.address = f"10.213.7.{number}"
        self.cable = f"dbb{number}x{os.getpid()}"[:15]

    def enter(self):
        """The words that make a command run there. Its processes end with the first."""
        return ["ip", "netns", "exec", self.name, "unshare", "--uts", "sh", "-c",
                f'hostname {self.name} && exec "$@"', "sh"]

    def received(self):
        output = run("ip", "netns", "exec", self.name, "cat",
                     f"/sys/class/net/{self.cable}/statistics/rx_bytes")
        return int(output)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=30, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def connect(hosts):
    for host in hosts:
        run("ip", "netns", "add", host.name)
    run("ip", "link", "add", hosts[0].cable, "netns", hosts[0].name, "type", "veth",
        "peer", "name", hosts[1].cable, "netns", hosts[1].name)
    for host in hosts:
        at = ("ip", "-n", host.name)
        run(*at, "address", "add", f"{host.address}/24", "dev", host.cable)
        run(*at, "link", "set", host.cable, "up")
        run(*at, "link", "set", "lo", "up")
        run(*host.enter(), "true")


def remove(hosts):
    for host in hosts:
        left = subprocess.run(["ip", "netns", "pids", host.name], capture_output=True, text=True,
                              check=False).stdout.split()
        for pid in left:
            subprocess.run(["kill", "-KILL", pid], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "delete", host.name], capture_output=True, check=False)


def launch_agent(folder, host):
    """What mpirun calls instead of ssh: AGENT HOST COMMAND..."""
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\n"
                     f'[ "$1" = {host.address} ] || {{ echo "no host $1" >&2; exit 1; }}\n'
                     'shift\n'
                     f"exec {' '.join(host.enter()[:-2])} "
                     f"'hostname {host.name} && eval \"$*\"' sh \"$@\"\n")
    agent.chmod(0o700)
    return agent


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


def why_not():
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    for tool in ("ip", "unshare"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return None


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
