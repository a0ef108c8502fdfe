"""No output is an input or another output, by whatever name."""

import os
from pathlib import Path

import pytest

from mam.data.outputs import check_outputs


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An input by many names, and a folder of inputs."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "d.parquet"
    path.write_text("rows")
    (tmp_path / "soft").symlink_to(path)
    os.link(path, tmp_path / "hard")
    (tmp_path / "set" / "deep").mkdir(parents=True)
    (tmp_path / "set" / "deep" / "a.png").write_text("a")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "b.png").write_text("b")
    (tmp_path / "set" / "linked").symlink_to(tmp_path / "far")
    return path


@pytest.mark.parametrize("out", ["d.parquet", "./far/../d.parquet", "soft", "hard"])
@pytest.mark.parametrize("source", ["{}", "soft", "hard", "file://{}"])
def test_an_input_is_no_output(data: Path, out: str, source: str) -> None:
    with pytest.raises(ValueError, match=r"is an input .* and would be overwritten"):
        check_outputs({".png": [Path(out)]}, [None, "s3://bucket/d.parquet", source.format(data)])
    assert data.read_text() == "rows"


@pytest.mark.parametrize("out", ["set/deep/a.png", "far/b.png", "set/linked/b.png"])
def test_a_file_of_an_input_folder_is_no_output(data: Path, out: str) -> None:
    with pytest.raises(ValueError, match=r"b?\.png: is an input \(set\)"):
        check_outputs({".png": [Path(out)]}, ["set"])
    os.link(out, "other.png")
    if out.startswith("set/deep"):
        with pytest.raises(ValueError, match=r"other\.png: is an input \(set\)"):
            check_outputs({".png": [Path("other.png")]}, ["set"])


def test_new_files_and_others_are_fine(data: Path) -> None:
    Path("old.png").write_text("old")
    outputs = [Path("set/new.png"), Path("old.png"), None]
    check_outputs(
        {".png": outputs}, [data, "set", "no-such-input", None, "https://example.org/d.parquet"]
    )
    assert Path("old.png").read_text() == "old" and not Path("set/new.png").exists()


@pytest.mark.parametrize(
    ("one", "two"),
    [("x", "far/../x"), ("hard", "soft"), ("far/x", "set/linked/x"), ("toward", "x")],
)
def test_two_outputs_are_two_files(data: Path, one: str, two: str) -> None:
    Path("toward").symlink_to("x")
    with pytest.raises(ValueError, match="two outputs of one command"):
        check_outputs({".png": [Path(one), None, Path(two)]})


def test_what_cannot_be_written_is_refused(data: Path) -> None:
    with pytest.raises(OSError, match=r"set: cannot be written .it is a folder"):
        check_outputs({".png": [Path("set")]})
