"""Race candidates against each other in one process, fairly.

Two programs timed one after the other are compared with whatever else the
machine did meanwhile. So here all candidates run in every round, in a new
order each time; what is measured is CPU time, not wall time; and the result
is the ratio within a round, summed up by its median and a confidence interval
for the median that assumes nothing about the noise but independent rounds.
"""
import random
from math import comb
from time import process_time
from typing import NamedTuple


class Ratio(NamedTuple):
    """Median of the per-round ratios, with a 95 % confidence interval."""
    median: float
    low: float
    high: float
    rounds: int


def interval(values, error=.05):
    """Return the order statistics that enclose the median.

    With n independent values, the k-th smallest lies above the median with
    probability P(Binomial(n, 1/2) < k), whatever their law.
    """
    values, n, below, k = sorted(values), len(values), 0., 0
    while below + comb(n, k)/2**n <= error/2:
        below += comb(n, k)/2**n
        k += 1
    if k == 0: return float("-inf"), float("inf")  # too few rounds to say
    return values[k - 1], values[n - k]


def median(values):
    """Return the middle value, or the mean of the two middle ones."""
    values, n = sorted(values), len(values)
    return (values[(n - 1)//2] + values[n//2])/2


def ratio(times, above, below):
    """Return Ratio of candidate `above` to candidate `below`."""
    values = [row[above]/row[below] for row in times]
    return Ratio(median(values), *interval(values), len(values))


def race(candidates, pairs, seconds=2.5, width=.1, least=9, most=200, seed=0):
    """Run all candidates in rounds until the ratios are known.

    `candidates` maps a name to (function, units): the function takes the number of the round,
    so that data can rotate; a time is CPU seconds for one unit. `pairs` are the ratios that
    matter: rounds go on until each interval is within `width` of its median, or `seconds` of
    CPU time are spent. Returns the list of rounds, each a dict from name to time.
    """
    order, shuffle, times = list(candidates), random.Random(seed), []
    for name in order: candidates[name][0](0)  # warm up, compile
    start = process_time()
    while len(times) < most:
        shuffle.shuffle(order)
        row = {}
        for name in order:
            function, units = candidates[name]
            begun = process_time()
            function(len(times) + 1)
            row[name] = (process_time() - begun)/units
        times.append(row)
        if len(times) < least: continue
        known = [ratio(times, *pair) for pair in pairs]
        if process_time() - start > seconds or all(
                r.high - r.low <= 2*width*r.median for r in known): break
    return times


def verdict(found, gate, lower_is_better=False):
    """Judge a ratio: "fail" only if the whole interval is on the wrong side."""
    if gate is None: return "-"
    if lower_is_better: return "fail" if found.low > gate else "pass"
    return "fail" if found.high < gate else "pass"
