"""Which flags a settings file may set: every flag of every command is in one of the three groups below.

A `podsim.toml` that is found in a folder may come with a repository that somebody else wrote. It may change an answer,
which the screen then says. It may not name a file that podsim writes, results that it goes on with, a host on the
network or the number of processes, nor lift a limit. The user's own file may, but for flags that destroy.
"""

from typing import Final

from podsim.errors import InputError
from podsim.files.settings import NAME, Setting, SettingSource, own_file

COMMAND_LINE: Final = {
    "anew": "it overwrites the results of a sweep",
    "extend": "it writes into the results of another sweep",
    "freeze": "it overwrites frozen predictions",
    "calibrate.noise": "it chooses which fitted file is overwritten",
    "calibrate.comparators": "it chooses which fitted file is overwritten",
    "calibrate.frameworks": "it chooses which fitted file is overwritten",
    "calibrate.compile_times": "it chooses which fitted file is overwritten",
}
"""Flags, or flags of one command, that no file sets: they destroy what was there."""

OWN_FILE: Final = {
    "out": "it names a file that podsim writes",
    "points_out": "it names a file that podsim writes",
    "results": "it names a file that podsim writes",
    "backend": "it sends work to other machines",
    "scheduler": "it names a host on the network",
    "jobs": "it starts processes",
    "sweep.most": "it lifts a limit on work",
    "most_spans": "it lifts a limit on memory",
    "port": "it opens a port of this machine",
    "browser": "it starts a program",
}
"""Flags that the user's own file may set, and a file that is found in a folder may not."""

_HARMLESS: Final = """
accumulation against algorithm alone as_of author available_memory batch batches budget by bytes cache channel_groups
checkpoint_every chip chips chunks claims clients color columns comparators compile confidence count_copies coverage
csv currency customer date deadline diff division dry_run elements engine epochs explain failures fault fidelity
framework generate global_batch grid group groups headroom hold_out hold_outs hosts images in_channels interval
io_tiles ipus_per_replica json k kernel keys kind knee kwh_price law level links logs lookups m machine_price machines
max_power measure method micro_batch microbenchmarks money most n noise noise_scale objective operation ops optimizer
out_channels outputs overlap own p99 pace parameters pass pod pods points precision prefetch preset prices prompt
published pue queries quiet rate rent_per_hour rent_per_ipu_hour replicas requests require rounds rows runs samples
scaling schedule sdk seed sequence set shape size spares stage steps stream stream_rate stride table target_loss
tensors title to to_chip to_preset to_sdk tokens tokens_per_s topologies topology tpot ttft use variation verbose wait
weights width window within work workloads years
"""
ANY_FILE: Final = frozenset(_HARMLESS.split())
"""Flags that change an answer or how it is shown, or name a file that is only read."""


def refuse(setting: Setting) -> None:
    """Raise InputError where a file sets a flag that it may not set."""
    if setting.source is SettingSource.VARIABLE:
        return
    flag = f"--{setting.flag.replace('_', '-')}"
    if why := _reason(COMMAND_LINE, setting):
        raise _refusal(setting, f"no settings file may set {flag}: {why}", f"give {flag} on the command line")
    if setting.source is SettingSource.OWN:
        return
    why = _reason(OWN_FILE, setting)
    if why or setting.flag not in ANY_FILE:
        text = f"a {NAME} that is found in a folder may not set {flag}: {why or 'it is not known to be harmless'}"
        own = own_file() or "your own settings file"
        raise _refusal(setting, text, f"give {flag} on the command line, or set it in {own}")


def _reason(group: dict[str, str], setting: Setting) -> str:
    return group.get(setting.flag) or group.get(".".join((*setting.command, setting.flag)), "")


def _refusal(setting: Setting, why: str, hint: str) -> InputError:
    return InputError(f"{setting.origin}: {why}", code="bad-setting", hint=hint)
