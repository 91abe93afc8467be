"""Kinds of networks, as far as the configuration of their software goes."""

from enum import StrEnum


class NetworkKind(StrEnum):
    """What kind of network a chain of units is, as far as the configuration of its software goes."""

    CONVOLUTIONAL = "convolutional"
    VISION_TRANSFORMER = "vision-transformer"
    LANGUAGE = "language"
