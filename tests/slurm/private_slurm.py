"""A Slurm of a test's own: a controller and two nodes on this machine, with a key, ports and folders that nobody else has."""

import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NEEDED = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo", "squeue"]
WAIT_S = 60


def why_not():
    """A sentence where no Slurm can be started here, else nothing."""
    path = os.environ["PATH"] + ":/usr/sbin"
    missing = [name for name in NEEDED if shutil.which(name, path=path) is None]
    if missing:
        return f"there is no {', '.join(missing)} (Debian's slurm-wlm and munge)"
    return None if os.geteuid() == 0 else "only root can start a slurmd"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class PrivateSlurm:
    """`nodes` are two with `cpus` each, whether or not this machine has so many. Use it as a context."""

    def __init__(self, folder, cpus=4):
        self.folder = pathlib.Path(folder)
        self.cpus = cpus
        self.running = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self):
        for name in ["state", "spool-a", "spool-b", "log", "munge"]:
            (self.folder / name).mkdir(mode=0o755)
        self.write_key()
        self.write_configuration()
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        munge = self.folder / "munge"
        self.daemon("munged", "--foreground", "--force", f"--key-file={munge}/key",
                    f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--seed-file={munge}/seed",
                    f"--log-file={munge}/log")
        self.until(lambda: (munge / "socket").exists(), "munged has no socket")
        self.daemon("slurmctld", "-D")
        for name in "ab":
            self.daemon("slurmd", "-D", "-N", f"node-{name}")
        self.until(lambda: self.output("sinfo", "-h", "-o", "%D %t") == "2 idle", "the nodes are not idle")

    def write_key(self):
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def write_configuration(self):
        control, first, second = free_ports(3)
        host = socket.gethostname().split(".")[0]
        f = self.folder
        nodes = "\n".join(
            f"NodeName=node-{name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} State=UNKNOWN"
            for name, port in [("a", first), ("b", second)])
        (f / "slurm.conf").write_text(f"""\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
AuthType=auth/munge
AuthInfo=socket={f}/munge/socket
CredType=cred/munge
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
StateSaveLocation={f}/state
SlurmdSpoolDir={f}/spool-%n
SlurmctldPidFile={f}/slurmctld.pid
SlurmdPidFile={f}/slurmd-%n.pid
SlurmctldLogFile={f}/log/slurmctld
SlurmdLogFile={f}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=0
KillWait=5
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        # slurmd loads a plugin of groups even where it tracks processes without them.
        version = "v2" if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists() else "v1"
        (f / "cgroup.conf").write_text(f"CgroupPlugin=cgroup/{version}\nIgnoreSystemd=yes\n")
        for name in "ab":
            (f / f"spool-node-{name}").mkdir()

    def daemon(self, *command):
        program = shutil.which(command[0], path=self.environment["PATH"])
        with open(self.folder / "log" / f"{command[0]}-{len(self.running)}", "wb") as log:
            self.running.append(subprocess.Popen([program, *command[1:]], env=self.environment, stdout=log,
                                                 stderr=log, start_new_session=True))

    def until(self, holds, otherwise, seconds=WAIT_S):
        end = time.monotonic() + seconds
        while not holds():
            dead = [p.args[0] for p in self.running if p.poll() is not None]
            if dead or time.monotonic() > end:
                raise AssertionError(f"{otherwise}{', and these have ended: ' + ', '.join(dead) if dead else ''}\n"
                                     + self.logs())
            time.sleep(0.1)

    def logs(self):
        parts = []
        for file in sorted((self.folder / "log").iterdir()):
            parts.append(f"-- {file.name}\n" + "\n".join(file.read_text(errors="replace").splitlines()[-15:]))
        return "\n".join(parts)

    def run(self, *command, folder, **environment):
        return subprocess.run(command, cwd=folder, env={**self.environment, **environment}, capture_output=True,
                              text=True, timeout=300)

    def output(self, *command):
        said = self.run(*command, folder=self.folder)
        return said.stdout.strip() if said.returncode == 0 else said.stderr.strip()

    def submit(self, script, folder, *options, **environment):
        """The number of the job."""
        said = self.run("sbatch", "--parsable", *options, str(script), folder=folder, **environment)
        assert said.returncode == 0, said.stderr + self.logs()
        return said.stdout.strip()

    def state_of(self, job):
        """The words of squeue for its tasks; nothing when all have ended."""
        return set(self.output("squeue", "-h", "-j", job, "-o", "%T").split())

    def wait_for(self, job, seconds=240):
        self.until(lambda: not self.state_of(job) - {"COMPLETING"} or "Invalid" in self.state_of(job),
                   f"job {job} does not end", seconds)

    def field(self, job, name):
        """A field of `scontrol show job`."""
        words = dict(word.split("=", 1) for word in self.output("scontrol", "show", "job", job).split() if "=" in word)
        return words.get(name)

    def signal_job(self, job, number=signal.SIGUSR1):
        said = self.run("scancel", f"--signal={signal.Signals(number).name[3:]}", job, folder=self.folder)
        assert said.returncode == 0, said.stderr
