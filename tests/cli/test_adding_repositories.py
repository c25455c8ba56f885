"""`retain add` of a repository: its name stays, and what programs put into it is left out and named."""

from __future__ import annotations

from pathlib import Path

from tests.commands import Run


def test_two_repositories_do_not_lie_on_one_another(run: Run, tmp_path: Path, compiled: Path) -> None:
    for name in ("one", "two"):
        for path in ("README.md", "src/a.py", "node_modules/m/README.md", "docs/build/x.md", "__pycache__/a.md"):
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# {name} {path}")
    first = run("add", str(tmp_path / "one"), "--as", "repos", "--json", cwd=compiled)
    (tmp_path / "two/.git").mkdir()
    second = run("add", str(tmp_path / "two"), "--json", cwd=compiled)
    assert sorted(first.json()["added"]) == ["raw/repos/one/README.md", "raw/repos/one/src/a.py"]
    assert sorted(second.json()["added"]) == ["raw/repos/two/README.md", "raw/repos/two/src/a.py"]
    assert "node_modules" in first.stderr and "skipped in" in first.stderr
