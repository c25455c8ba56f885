"""The reading processes: bounded, replaceable, and never run by what lies in a vault or in the environment."""

from __future__ import annotations

import hashlib
import signal
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.workers.pool import Worker, WorkerPool, largest_first
from vault.errors import WorkerFailed
from vault.vault import Vault

pytestmark = pytest.mark.real_workers

SAID = "An enzyme is a protein that speeds up a chemical reaction by lowering its activation energy."


def message(path: Path) -> dict[str, Any]:
    return {"op": "source", "path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "note.md"
    path.write_text(f"# Enzymes\n\n{SAID}\n")
    return path


def test_a_worker_reads_and_extracts(document: Path) -> None:
    with WorkerPool("extractive", document.parent) as crew:
        reply = crew.ask(message(document))
    assert reply["source"]["title"] == "Enzymes"
    (claims,) = [r["claims"] for r in reply["replies"]]
    assert claims[0]["quote"] == SAID


def test_a_worker_that_takes_too_long_is_ended_and_the_next_request_has_a_new_one(document: Path) -> None:
    worker = Worker("extractive", document.parent)
    with pytest.raises(WorkerFailed, match="took more than 0 s"):
        worker.ask(message(document), seconds=0.01)  # it cannot even have started
    assert worker.process.poll() is not None
    with WorkerPool("extractive", document.parent, size=1) as crew:
        assert "source" in crew.ask(message(document))


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system bounds no processor time")
def test_a_document_that_makes_too_much_work_is_told_from_one_that_breaks_the_reader(document: Path) -> None:
    worker = Worker("", document.parent)
    assert "source" in worker.ask(message(document))
    worker.process.send_signal(signal.SIGXCPU)  # what the system sends to whom its time is up
    worker.process.wait()
    with pytest.raises(WorkerFailed, match="more processor time"):
        worker.ask(message(document))


def test_a_worker_that_is_killed_costs_its_document_only(document: Path) -> None:
    with WorkerPool("extractive", document.parent, size=1) as crew:
        crew.ask(message(document))
        (worker,) = crew._all
        assert isinstance(worker, Worker)
        worker.process.kill()
        worker.process.wait()
        replies = dict(crew.ask_all([message(document)] * 3))
    failed = [r for r in replies.values() if isinstance(r, WorkerFailed)]
    assert len(replies) == 3 and len(failed) == 1


def test_a_worker_that_was_started_ahead_is_the_one_that_reads(document: Path) -> None:
    with WorkerPool("extractive", document.parent, size=2) as crew:
        crew.start(document.stat().st_size)
        (worker,) = crew._all
        replies = dict(crew.ask_all([message(document)] * 3, starts=0.1))
        assert crew._all == [worker]
    assert [reply["source"]["title"] for reply in replies.values() if isinstance(reply, dict)] == ["Enzymes"] * 3


def test_a_worker_that_dies_before_it_is_asked_costs_its_document_only(document: Path) -> None:
    with WorkerPool("extractive", document.parent, size=1) as crew:
        crew.start(1)
        crew._all[0].process.kill()
        replies = dict(crew.ask_all([message(document)] * 2))
    assert sum(isinstance(reply, WorkerFailed) for reply in replies.values()) == 1


def test_bytes_that_are_no_longer_what_was_seen_are_not_read(document: Path) -> None:
    seen = message(document)
    document.write_text("something else\n")
    with WorkerPool("extractive", document.parent) as crew:
        assert "changed while it was being read" in crew.ask(seen)["not_now"]


def bomb(path: Path, megabytes: int) -> None:
    """A PDF whose one page unpacks to so many megabytes from a few kilobytes."""
    packer = zlib.compressobj(9)
    stream = b"".join(packer.compress(b"(x) Tj " * (1 << 17)) for _ in range(megabytes)) + packer.flush()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, o) for n, o in enumerate(objects, 1))
    path.write_bytes(out + b"trailer << /Root 1 0 R >>\n%%EOF\n")


def test_a_bomb_of_a_document_is_one_named_failure_and_the_batch_goes_on(vault: Vault) -> None:
    path = vault.root / "raw/papers/bomb.pdf"
    path.parent.mkdir(parents=True)
    bomb(path, 128)
    assert path.stat().st_size < 1 << 20
    report = compile_vault(vault, Options(), datetime(2026, 11, 21, 9, tzinfo=UTC), lambda event: None)
    (failure,) = report.failures
    assert failure.path == "raw/papers/bomb.pdf" and failure.message
    assert report.sources["read"] == 2 and report.articles["created"] > 0


def test_neither_environment_nor_working_directory_can_name_code_for_a_worker(
    tmp_path: Path, document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sprung = tmp_path / "sprung"
    for name in ("compiler", "vault", "pydantic", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"import pathlib; pathlib.Path({str(sprung)!r}).touch()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "sitecustomize.py"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    with WorkerPool("extractive", document.parent, size=1) as crew:
        assert "source" in crew.ask(message(document))
        (worker,) = crew._all
        assert isinstance(worker, Worker)
        environment = Path(f"/proc/{worker.process.pid}/environ")
        if environment.exists():
            assert b"canary" not in environment.read_bytes()
            assert (environment.parent / "cwd").readlink() == Path("/")
    assert not sprung.exists()


def test_long_documents_are_read_first() -> None:
    assert largest_first([5, 9, 1, 9]) == [1, 3, 0, 2]
