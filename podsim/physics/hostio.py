"""From a server to the SRAM of an IPU."""

HOST_START_S = 8.8e-6  # one word to one tile, whichever IPU and up to 152 tiles (jia-2019, table 4.19, Mk1)

HOST_CALL_S = 0.8e-3
"""A call of a program from the host, inputs and outputs apart.

Derived: what 64 calls in place of one add to data-parallel SchNet (hydronet-gnn, strong_scaling.ipynb, cell 23). Two
products of 4096 cubed leave 0.27 and 0.29 ms.
"""


IN_LINE_BYTES_PER_S = 5.5e9
"""What one stream through the gateway reaches where the program waits for it (graphcore-examples, EfficientDet)."""


def host_s(volume_bytes: float, bytes_per_s: float) -> float:
    """Time until `volume_bytes` from the host have arrived [s]: a start, then the narrowest link."""
    return HOST_START_S + volume_bytes / bytes_per_s
