"""All fuzzers on as many inputs as wanted: one line per fuzzer, and how to repeat each fault.

    PYTHONPATH=tests python tests/fuzz/campaign.py 1000 0
    PYTHONPATH=tests python tests/fuzz/campaign.py 1000 0 metrics files

The arguments are the number of inputs in all, the seed, and which fuzzers to run, by default all. Fuzzers whose inputs
take longer have fewer of them, so that each runs for a similar time. Each runs in a process of its own, so that a crash
or a loop without end is a fault of its input like any other.
"""

import multiprocessing
import sys
from importlib import import_module
from time import perf_counter

SHARES = {"metrics": 20, "readers": 40, "evaluation": 20, "files": 15, "estimators": 3, "channels": 2}  # of the inputs
LONGEST = 300.0  # seconds that an input may take

processes = multiprocessing.get_context("spawn")


def main(n_inputs, seed, names):
    """Run fuzzers and print what they find; return the exit code, 1 if there is a fault."""
    code, unit = 0, n_inputs / sum(SHARES[name] for name in names)
    for name in names:
        start, n_own = perf_counter(), max(1, round(unit * SHARES[name]))
        faults = faults_of(name, n_own, seed)
        print(f"{name:10} {n_own:8} inputs {perf_counter() - start:8.1f} s {len(faults):4} faults", flush=True)
        for k, fault in faults:
            code = 1
            print(fault)
            print(f"Repeat it: PYTHONPATH=tests:tests/fuzz python -c 'import fuzz_{name} as f; f.check({seed}, {k})'")
    return code


def faults_of(name, n_inputs, seed, longest=LONGEST):
    """Check all inputs of a fuzzer; list the number of each input with a fault and the fault."""
    faults, first = [], 0
    while first < n_inputs:
        place, (receiver, sender) = processes.Value("q", first), processes.Pipe(duplex=False)
        process = processes.Process(target=check_inputs, args=(name, seed, first, n_inputs, place, sender))
        process.start()
        sender.close()
        reason = watch(process, receiver, place, faults, longest)
        if reason is None:
            break
        faults.append((place.value, reason))
        first = place.value + 1
    return faults


def check_inputs(name, seed, first, stop, place, sender):
    """Check inputs [first, stop); note in `place` which one it is, and send faults."""
    check = import_module(f"fuzz_{name}").check
    for k in range(first, stop):
        place.value = k
        try:
            check(seed, k)
        except Exception as error:
            sender.send((k, str(error)))


def watch(process, receiver, place, faults, longest):
    """Take in faults until a process ends; return why it ended too early, or None."""
    k, since = -1, perf_counter()
    while True:
        try:
            if receiver.poll(0.2):
                faults.append(receiver.recv())
        except EOFError:  # the process has ended
            process.join()
            return None if process.exitcode == 0 else f"The process ended with exit code {process.exitcode}."
        if place.value != k:
            k, since = place.value, perf_counter()
        elif perf_counter() - since > longest:
            process.kill()
            process.join()
            return f"It took longer than {longest:g} s."


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or SHARES))
