"""How far a measured step carries: of pairs of published steps of one network in one table, (measured / measured) over
(predicted / predicted), by what differs between their plans. Classes are those of sim/anchor/anchor.cpp.
"""

import collections
import itertools
import json
import math

WITHIN = 5.0  # percent
SHARE = 0.8  # of the pairs that the range of a class holds
LEAST_PAIRS = 10
ONE_KEY = "one key of the plan"
ABOUT = ("Of pairs of published steps of one network in one table of bench/measured, by what differs between their plans: (measured / measured) "
         "over (predicted / predicted), the tenth, fiftieth and ninetieth percentile. bench/accuracy.py writes this file.")


def flat(value, prefix=""):
    """The keys of a scenario, as parallel.tensor."""
    if not isinstance(value, dict):
        return {prefix: json.dumps(value)}
    keys = {}
    for key, of in value.items():
        keys.update(flat(of, f"{prefix}.{key}" if prefix else key))
    return keys


def class_of(key):
    if key.startswith("cluster"):
        return "machines"
    if key.startswith("framework"):
        return "software"
    if key == "gpus":
        return "gpus"
    if key.startswith("training.recompute"):
        return "recompute"
    if key.startswith("training.precision"):
        return "precision"
    if key.startswith("training."):
        return "batch"
    if key.startswith("schedule"):
        return "schedule"
    return "cut"


def changed_keys(one, other):
    """The keys in which two scenarios differ, but for those that follow from others."""
    a, b = flat(one), flat(other)
    keys = {key for key in a.keys() | b.keys() if a.get(key) != b.get(key)} - {"parallel.data"}
    return keys - {"training.global_batch"} or keys


def difference(one, other):
    """The class of what differs between two scenarios; None: the network, or nothing."""
    if one.get("model") != other.get("model"):
        return None
    a, b = flat(one), flat(other)
    keys = {key for key in a.keys() | b.keys() if a.get(key) != b.get(key)}
    classes = {class_of(key) for key in keys if key != "parallel.data"}
    if classes & {"gpus", "cut"}:
        classes.discard("batch")
    if not classes:
        return "gpus" if keys else None
    return classes.pop() if len(classes) == 1 else "several"


def pairs(rows, stated):
    """By class, the logarithms of what an anchor leaves wrong, of every pair in both directions."""
    of = collections.defaultdict(list)
    tables = collections.defaultdict(list)
    for row in rows:
        if "error" in row and "class" in row:
            tables[row["table"], json.dumps(stated[row["table"], row["row"]]["scenario"].get("model"))].append(row)
    for (table, _), of_model in tables.items():
        for one, other in itertools.combinations(of_model, 2):
            plans = [stated[table, row["row"]]["scenario"] for row in (one, other)]
            left = math.log(other["measured_s"] / one["measured_s"]) - math.log(other["predicted_s"] / one["predicted_s"])
            differs = difference(*plans)
            if differs:
                of[differs] += [left, -left]
            if differs not in (None, "machines", "software", "several") and len(changed_keys(*plans)) == 1:
                of[ONE_KEY] += [left, -left]
    return of


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def carries(of):
    """The shipped file."""
    classes = []
    for differs, lefts in sorted(of.items()):
        if len(lefts) < 2 * LEAST_PAIRS or differs == ONE_KEY:
            continue
        low, middle, high = (math.exp(percentile(lefts, share)) for share in ((1 - SHARE) / 2, 0.5, (1 + SHARE) / 2))
        classes.append(json.dumps({"differs": differs, "pairs": len(lefts) // 2, "low": round(low, 3),
                                   "middle": round(middle, 3), "high": round(high, 3)}))
    return f'{{"about": {json.dumps(ABOUT)},\n "classes": [\n  ' + ",\n  ".join(classes) + "\n]}\n"


def table(of):
    """The rows of docs/accuracy.md."""
    lines = ["| what differs | pairs | median error | within 5 % |", "|---|---|---|---|"]
    for differs, lefts in sorted(of.items()):
        errors = sorted(100 * abs(math.expm1(left)) for left in lefts)
        if len(errors) >= 2 * LEAST_PAIRS:
            lines.append(f"| {differs} | {len(errors) // 2} | {errors[len(errors) // 2]:.1f} % | "
                         f"{100 * sum(error <= WITHIN for error in errors) / len(errors):.0f} % |")
    return lines
