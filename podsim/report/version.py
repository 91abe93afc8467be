"""Which podsim this is."""


def version() -> str:
    """The version of the installed podsim; "unknown" where it runs from a folder without being installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed_version

    try:
        return installed_version("podsim")
    except PackageNotFoundError:
        return "unknown"
