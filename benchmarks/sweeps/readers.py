"""5,000 mutated plans, read by three readers: `python benchmarks/sweeps/readers.py [mutants] [seed]`.

And a tenth as many of plans of several messages, whose claims about counts every reader composes by itself.

The plan itself, `bcdp verify` and the browser's device in Node accept and refuse the same texts, but for the content of
`tasks`, which the plan alone interprets. No claim that they accept is below what an enumeration finds that shares no
code with any of them. The exit code is 1 if that is not so.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.enumeration import size_of
from support.plan_mutants import cascade_plans, fresh_plans, mutants, several_messages, vector_plans
from support.readers import accepted_by_device, accepted_by_plan, accepted_by_verify, disagreements, untrue

LARGEST = 60_000  # chances that an enumeration goes through


def main() -> None:
    """Prints how many are accepted, on how many the readers differ, and how many claims are below the truth."""
    count, seed = (int(given) for given in (*sys.argv[1:], "5000", "1")[:2])
    started, rng = time.monotonic(), np.random.default_rng(seed)
    texts = mutants(rng, vector_plans() + fresh_plans(rng, 60), count)
    texts += mutants(rng, several_messages(rng, 40), count // 10)
    by_plan, by_verify = list(map(accepted_by_plan, texts)), list(map(accepted_by_verify, texts))
    differ = disagreements(texts, plan=by_plan, verify=by_verify, device=accepted_by_device(texts))
    accepted = [text for text, said in zip(texts, by_plan, strict=True) if said]
    small = [text for text in accepted if size_of(json.loads(text)) <= LARGEST]
    below = [text for text in small if untrue(text)]
    cascades = mutants(rng, cascade_plans(), count // 10)
    differ += disagreements(
        cascades, plan=list(map(accepted_by_plan, cascades)), verify=list(map(accepted_by_verify, cascades))
    )
    print(
        f"{len(texts):,} mutants and {len(cascades):,} of cascades: {len(accepted):,} accepted, {len(differ)} read "
        f"differently; {len(small):,} enumerated, {len(below)} with a claim below the truth; "
        f"{time.monotonic() - started:.0f} s"
    )
    for said, text in differ:
        print(said, text)
    for text in below:
        print("below the truth:", text)
    if differ or below or len(accepted) < count // 5:
        sys.exit(1)


if __name__ == "__main__":
    main()
