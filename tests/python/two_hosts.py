"""Two hosts: network namespaces with names of their own, joined by a cable (veth). Needs root and
the right to make namespaces."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile


NAMES = pathlib.Path("/etc/netns")  # where a namespace has an /etc/hosts of its own


class Host:
    """Known to both as host1 or host2."""

    def __init__(self, number, job=os.getpid()):
        self.name = f"debubble-{job}-{number}"
        self.hostname = f"host{number}"
        self.address = f"10.213.7.{number}"
        self.cable = f"dbb{number}x{job}"[:15]

    def enter(self):
        """The words that make a command run there. Its processes end with the first."""
        return ["ip", "netns", "exec", self.name, "unshare", "--uts", "sh", "-c",
                f'hostname {self.hostname} && exec "$@"', "sh"]

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
        others = "".join(f"{each.address} {each.hostname}\n" for each in hosts if each != host)
        (NAMES / host.name).mkdir(parents=True)
        # As Debian installs it: a host's own name is an address of its loop.
        (NAMES / host.name / "hosts").write_text(
            f"127.0.0.1 localhost\n127.0.1.1 {host.hostname}\n{others}")
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
        shutil.rmtree(NAMES / host.name, ignore_errors=True)


def launch_agent(folder, host):
    """The program that mpirun calls instead of ssh: AGENT HOST COMMAND..."""
    agent = folder / "agent"
    agent.write_text("#!/bin/sh\n"
                     f'[ "$1" = {host.address} ] || {{ echo "no host $1" >&2; exit 1; }}\n'
                     'shift\n'
                     f"exec {' '.join(host.enter()[:-2])} "
                     f"'hostname {host.hostname} && eval \"$*\"' sh \"$@\"\n")
    agent.chmod(0o700)
    return agent


def why_not():
    if os.geteuid() != 0:
        return "only root makes network namespaces"
    for tool in ("ip", "unshare"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return None


def on_two_hosts(body):
    """The exit code that body(hosts, folder) returns; 0 with a reason where there can be no hosts."""
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
            return body(hosts, pathlib.Path(folder))
        finally:
            remove(hosts)
