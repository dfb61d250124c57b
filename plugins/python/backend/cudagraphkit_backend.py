"""scikit-build-core's backend, with graphkit's sources in the sdist.

They lie above this folder in the repository, where an sdist can't reach. While an sdist is built, what the package needs
of them is copied to source/, and the licence beside pyproject.toml.
"""

import contextlib
import pathlib
import shutil

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

HERE = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = HERE.parent.parent
# Files of the repository that the package has as well.
BESIDE = {"LICENSE": REPOSITORY / "LICENSE", "cudagraphkit/SKILL.md": REPOSITORY / "docs/SKILL.md",
          "cudagraphkit/check_certificate.py": REPOSITORY / "tools/certificate/check_certificate.py"}
# The software device says what the programs of its tests check, so these are among its sources.
NEEDED = ["CMakeLists.txt", "LICENSE", "README.md", "libgraphkit", "plugins", "tools", "docs/checks", "docs/glossary.md",
          "tests/plugins/soft_cuda"]


@contextlib.contextmanager
def _beside(names_to_sources):
    """Copies files and folders to HERE where they aren't, and removes these copies again."""
    copied = []
    try:
        for name, source in names_to_sources.items():
            target = HERE / name
            if target.exists() or not source.exists():
                continue
            copied.append(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("python", "__pycache__"))
            else:
                shutil.copy2(source, target)
        yield
    finally:
        for target in copied:
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)


def build_sdist(sdist_directory, config_settings=None):
    needed = {} if (HERE / "source").exists() else {f"source/{name}": REPOSITORY / name for name in NEEDED}
    with _beside({**BESIDE, **needed}):
        try:
            return _build.build_sdist(sdist_directory, config_settings)
        finally:
            if needed:
                shutil.rmtree(HERE / "source")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with _beside(BESIDE):
        return _build.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _beside(BESIDE):
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)
