import pytest


@pytest.fixture(autouse=True)
def _only_shipped_files(tmp_path, monkeypatch):
    """Tests stand in an empty folder of a user without files, and see what podsim ships."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    """Write a file below the current folder and return its path."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
