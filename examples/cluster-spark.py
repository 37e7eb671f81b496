"""Runs a planned job on a Spark cluster: spark-submit cluster-spark.py JOB_DIR, after "pileshuf cluster plan".

Each partition has one index, and calls the command on the executor that Spark chooses. Give the executors spark.task.cpus
and memory as the plan says. Run again, it does what is not done. PILESHUF names the command if it is not on PATH.
"""

import json, os, shlex, subprocess, sys
from pyspark import SparkContext

PILESHUF = shlex.split(os.environ.get("PILESHUF", "pileshuf"))


def do_task(*words):
    done = subprocess.run([*PILESHUF, "cluster", "task", *words], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        # Spark tries it again, spark.task.maxFailures times in all.
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def main(job_dir):
    status = json.loads(subprocess.check_output([*PILESHUF, "cluster", "status", "--job-dir", job_dir, "--json"]))
    context = SparkContext(appName="pileshuf")
    for kind in ["scatter", "measure", "shuffle", "verify"]:
        indexes = status.get(kind, {}).get("unfinished", [])
        if indexes:
            tasks = context.parallelize(indexes, len(indexes))
            tasks.foreach(lambda index: do_task(kind, "--job-dir", job_dir, "--index", str(index)))
    context.parallelize([0], 1).foreach(lambda _: do_task("commit", "--job-dir", job_dir))
    context.stop()


main(os.path.abspath(sys.argv[1]))
