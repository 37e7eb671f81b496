"""Runs a planned job on a Ray cluster: python3 cluster-ray.py JOB_DIR CPUS_PER_TASK, after "pileshuf cluster plan".

Each task calls the command on a machine that Ray chooses. Run again, it does what is not done.
PILESHUF names the command if it is not on PATH.
"""

import json, os, shlex, subprocess, sys
import ray

PILESHUF = shlex.split(os.environ.get("PILESHUF", "pileshuf"))


class Passing(Exception):
    """A failure after which the task is worth another attempt."""


def do_task(*words):
    done = subprocess.run([*PILESHUF, "cluster", "task", *words], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        kind = RuntimeError if done.returncode in (2, 3) else Passing
        raise kind(f"{' '.join(words)}: {done.stderr.strip()}")


def main(job_dir, cpus):
    status = json.loads(subprocess.check_output([*PILESHUF, "cluster", "status", "--job-dir", job_dir, "--json"]))
    ray.init()
    task = ray.remote(do_task).options(num_cpus=int(cpus), max_retries=3, retry_exceptions=[Passing])
    for kind in ["scatter", "measure", "shuffle", "verify"]:
        indexes = status.get(kind, {}).get("unfinished", [])
        ray.get([task.remote(kind, "--job-dir", job_dir, "--index", str(index)) for index in indexes])
    ray.get(task.remote("commit", "--job-dir", job_dir))


main(os.path.abspath(sys.argv[1]), sys.argv[2])
