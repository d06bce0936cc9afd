"""Output files are whole or not there."""

import os
import stat
import sys

import pytest

from ranksvm.files.atomic import OutputError, atomic_write

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_writes_what_it_is_given(tmp_path):
    with atomic_write(tmp_path / "a") as file:
        file.write("é\n".encode())
    assert content(tmp_path) == {"a": "é\n"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_the_old_file(tmp_path, error):
    def write():
        with atomic_write(tmp_path / "a") as file:
            file.write(b"new")
            raise error

    for expected in ({}, {"a": "old"}):
        with pytest.raises(error):
            write()
        assert content(tmp_path) == expected
        (tmp_path / "a").write_text("old")


def test_the_old_file_stays_until_the_end(tmp_path):
    (tmp_path / "a").write_text("old")
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
        file.flush()
        assert (tmp_path / "a").read_text() == "old"
    assert content(tmp_path) == {"a": "new"}


def test_full_disk(tmp_path, monkeypatch):
    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    path = tmp_path / "a"
    with (
        pytest.raises(OutputError, match=f"^cannot write {path}: No space left on device$"),
        atomic_write(path) as file,
    ):
        file.write(b"new")
    assert content(tmp_path) == {}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_device():
    message = "^cannot write /dev/full: No space left on device$"
    with pytest.raises(OutputError, match=message), atomic_write("/dev/full") as file:
        file.write(b"text")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@POSIX
def test_devices_and_pipes_are_written_directly(capfd):
    with atomic_write("/dev/null") as file:
        file.write(b"text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with atomic_write("/dev/stdout") as file:
        file.write(b"text")
    assert capfd.readouterr().out == "text"
    reading, writing = os.pipe()
    with atomic_write(f"/dev/fd/{writing}") as file:
        file.write(b"piped")
    assert os.read(reading, 100) == b"piped"
    os.close(reading)
    os.close(writing)


@POSIX
def test_descriptor_of_a_file_is_appended_to(tmp_path):
    path = tmp_path / "log"
    path.write_text("before ")
    with path.open("a") as log, atomic_write(f"/dev/fd/{log.fileno()}") as file:
        file.write(b"text")
    assert content(tmp_path) == {"log": "before text"}


def test_standard_output(capsysbinary):
    with atomic_write("-") as file:
        file.write(b"bytes ")
    with atomic_write("-") as file:
        file.write(b"text")
    assert capsysbinary.readouterr().out == b"bytes text"
    assert not sys.stdout.closed


def test_broken_pipe_stays_one(tmp_path):
    with pytest.raises(BrokenPipeError), atomic_write(tmp_path / "a"):
        raise BrokenPipeError(32, "Broken pipe")
    assert content(tmp_path) == {}


def test_errors_about_other_files_pass(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"), atomic_write(tmp_path / "a"):
        (tmp_path / "missing").read_text()
    assert content(tmp_path) == {}


@pytest.mark.parametrize("name", ["", ".", "sub", "sub/", "new/"])
def test_directories_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    message = "^cannot write .*: a file name is needed, not a directory$"
    with pytest.raises(OutputError, match=message), atomic_write(name):
        pass


def test_missing_directory(tmp_path):
    message = f"^cannot write {tmp_path}/no/a: the directory {tmp_path}/no does not exist$"
    with pytest.raises(OutputError, match=message), atomic_write(tmp_path / "no" / "a"):
        pass


@POSIX
def test_permissions(tmp_path):
    path = tmp_path / "a"
    old = os.umask(0o027)
    try:
        with atomic_write(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        with atomic_write(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@POSIX
def test_write_protected(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(OutputError, match="Permission denied"), atomic_write(path):
        pass
    assert content(tmp_path) == {"a": "old"}


@POSIX
def test_symbolic_links(tmp_path):
    (tmp_path / "sub").mkdir()
    for target in ("sub/old", "sub/dangling"):
        link = tmp_path / "link"
        link.symlink_to(target)
        with atomic_write(link) as file:
            file.write(target.encode())
        assert link.is_symlink()
        assert (tmp_path / target).read_text() == target
        link.unlink()
