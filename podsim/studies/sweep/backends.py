"""Where points are computed: in this process, in processes of this machine, or on a Dask cluster."""

import logging
import os
import shlex
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from podsim.errors import InputError
from podsim.files.contents import working_folder
from podsim.model.sweep import SweepOutcome, SweepQuestion

if TYPE_CHECKING:
    from distributed import Client

Compute = Callable[[SweepQuestion], SweepOutcome]
CONNECT_S = 5.0  # a scheduler that does not answer by then is taken for absent
HELPERS_S = 10.0  # as is a cluster without workers by then
START_S = 3.0  # processes for all cores cost about so much before their first point
WATCH, WATCH_S = "podsim: parent", 0.5  # the thread that looks whether the parent is there, and how often
RETRIES = 3  # times that a point is given to another process after the one that computed it died


def here(questions: Sequence[SweepQuestion], compute: Compute, jobs: int | None) -> Generator[SweepOutcome, None, None]:
    """Outcomes as they come, by `jobs` processes; for None by this one and, if points last, by one for each core.

    By this process alone where the working folder was removed: another would have none to start in.
    """
    if jobs == 1 or len(questions) < 2 or working_folder() is None:
        yield from map(compute, questions)
        return
    waiting = deque(questions)
    if jobs is None:
        yield from _while_none_start(waiting, compute)
    if waiting:
        yield from _by_processes(waiting, compute, jobs)


def _while_none_start(waiting: deque[SweepQuestion], compute: Compute) -> Generator[SweepOutcome, None, None]:
    """Outcomes of this process, for about as long as others would take to load podsim."""
    until_s = time.monotonic() + START_S
    while waiting and time.monotonic() < until_s:
        yield compute(waiting.popleft())


def _by_processes(
    questions: Collection[SweepQuestion], compute: Compute, jobs: int | None
) -> Generator[SweepOutcome, None, None]:
    """Outcomes of processes of this machine; InputError where they die again and again."""
    import joblib

    count = min(jobs or joblib.cpu_count(), len(questions))
    missing = dict(enumerate(questions))
    deaths = 0
    while missing:
        try:
            for number, outcome in _in_processes(dict(missing), compute, count):
                deaths = 0
                del missing[number]
                yield outcome
        except BrokenProcessPool:
            deaths += 1
            if deaths > RETRIES:
                raise InputError(
                    "processes that computed a point died again and again",
                    code="cluster-failed",
                    context=[f"{len(missing):,} points are missing"],
                    hint="the same command goes on from what is stored; --jobs 1 needs the least memory",
                ) from None


def _in_processes(
    questions: Mapping[int, SweepQuestion], compute: Compute, count: int
) -> Generator[tuple[int, SweepOutcome], None, None]:
    """Outcomes with the numbers of their questions, as they come. BrokenProcessPool where a process dies."""
    import joblib

    each = joblib.delayed(_alone)
    run = joblib.Parallel(n_jobs=count, backend="loky", return_as="generator_unordered")
    with _signals_held():
        outcomes = run(each(number, compute, question, os.getpid()) for number, question in questions.items())
    try:
        for outcome in outcomes:  # noqa: UP028  (`yield from` would close them before warnings are off)
            yield outcome
    finally:
        with suppress(Exception), warnings.catch_warnings():  # that points were under way is what it would say
            warnings.simplefilter("ignore")
            outcomes.close()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back signals that end a command: processes that are started meanwhile never take them, but SIGKILL.

    A terminal or service manager signals all processes at once; this one ends the others. Windows has no such signals.
    """
    if sys.platform == "win32":
        yield
        return
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        for tracker in (resource_tracker, loky_tracker):
            tracker.ensure_running()  # which lets some through again, in older versions: better now than later
        signal.pthread_sigmask(signal.SIG_BLOCK, ends)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _alone(number: int, compute: Compute, question: SweepQuestion, parent: int) -> tuple[int, SweepOutcome]:
    """A point in a process that leaves Ctrl-C to the one that stores, and ends when that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not any(thread.name == WATCH for thread in threading.enumerate()):
        threading.Thread(target=_end_with, args=(parent,), name=WATCH, daemon=True).start()
    return number, compute(question)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, also while it waits for a point."""
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os._exit(1)


def check_cluster(scheduler: str | None) -> str:
    """The address of the scheduler; InputError where there is none, or no package to reach it with."""
    if not scheduler:
        raise InputError(
            "--backend dask needs a scheduler", code="missing-argument", hint="--scheduler tcp://HOST:8786"
        )
    protocol, separator, _ = scheduler.partition("://")
    if separator and protocol != "tcp":  # a client of another one fails half made, and complains as it is thrown away
        raise InputError(
            f"no scheduler can be reached at {scheduler}: addresses begin with tcp://",
            code="no-scheduler",
            hint="--scheduler tcp://HOST:8786",
        )
    if find_spec("distributed") is None:
        raise InputError(
            "the packages dask and distributed are not installed",
            code="missing-package",
            hint="pip install 'podsim[cluster]'",
        )
    return scheduler


def cluster(
    questions: Sequence[SweepQuestion], compute: Compute, scheduler: str
) -> Generator[SweepOutcome, None, None]:
    """Outcomes as they come from a Dask cluster; what a process had that died is computed by another one.

    Raises InputError: no scheduler answers, it has no workers, or it goes away.
    """
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    client = _connect(scheduler)
    try:
        futures = client.map(compute, questions, pure=False, retries=RETRIES)
        arriving: Any = as_completed(futures, loop=client.loop, with_results=True)
        del futures  # a result that has been stored needs not be kept anywhere else
        for _, result in arriving:
            if not isinstance(result, SweepOutcome):  # a scheduler that goes away leaves an error in the place of each
                raise _connection_error(scheduler, "it went away", str(result))
            yield result
    except KilledWorker as error:
        raise _connection_error(
            scheduler, "processes that computed one point died again and again", str(error)
        ) from None
    except (CancelledError, OSError, TimeoutError) as error:
        raise _connection_error(scheduler, "it went away", str(error)) from None
    except (ImportError, AttributeError) as error:
        raise _connection_error(scheduler, "its processes have no podsim, or another one", str(error)) from None
    finally:
        with suppress(Exception):  # whoever waits for a scheduler that is gone would lose the answer as well
            client.close(timeout=CONNECT_S)


def _connect(scheduler: str) -> "Client":
    from distributed import Client
    from distributed.comm import resolve_address

    for name in [*logging.root.manager.loggerDict]:  # levels of their own are given to loggers far below
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # we say what matters, in one line
    try:
        resolve_address(scheduler)  # a client of what is no address cannot even be closed
        client = Client(scheduler, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # noqa: BLE001  (each kind of address fails in its own way: tls:// with a TypeError)
        raise InputError(
            f"no scheduler answers at {scheduler}",
            code="no-scheduler",
            context=[str(error)[:200]],
            hint="dask scheduler starts one and prints its address; leave out --backend to compute here",
        ) from None
    try:
        client.wait_for_workers(1, timeout=HELPERS_S)
    except TimeoutError:
        client.close(timeout=CONNECT_S)
        raise InputError(
            f"the scheduler at {scheduler} has no workers",
            code="no-scheduler",
            hint=f"dask worker {shlex.quote(scheduler)}, on each machine that is to help",
        ) from None
    return client


def _connection_error(scheduler: str, why: str, more: str) -> InputError:
    return InputError(
        f"the cluster at {scheduler} did not finish: {why}",
        code="cluster-failed",
        context=[more[:200]],
        hint="the same command goes on from what is stored",
    )
