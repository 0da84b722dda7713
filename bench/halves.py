"""The two halves of the published steps: one that constants are fitted to, and one that tests them.

A job is a model on some GPUs by one plan, whatever release of the software ran it: all rows of a job are in one half,
which the first bit of a hash of the job decides, so that nobody chooses.
"""

import hashlib
import json

PLAN = ["parallel", "schedule"]
TRAINING = ["global_batch", "micro_batch", "seq_length", "precision", "recompute", "lora"]
# Their seconds are not those of a step: of tests on small inputs, with the start-up of a run, or of collectives.
NO_STEPS = {"megatron_ci", "megatron_ci_other", "a40_blog", "collectives",
            "collectives_in_node", "kernels_products", "kernels_attention", "kernels_b200"}


def job_of(stated):
    """What a row of a table ran, without the release."""
    scenario = stated["scenario"]
    training = scenario.get("training", {})
    cluster = scenario.get("cluster")
    return json.dumps([scenario.get("model"), cluster.get("base") if isinstance(cluster, dict) else cluster,
                       scenario.get("gpus"), [scenario.get(key) for key in PLAN],
                       [training.get(key) for key in TRAINING]], sort_keys=True)


def is_fitted(table, stated):
    """Whether constants are fitted to the row; else it tests them."""
    return table not in NO_STEPS and hashlib.sha256(job_of(stated).encode()).digest()[0] < 128
