"""Every payload the emulator sends, judged by GitHub's own description of it."""

from tests.github_emulator import GitHubEmulator
from tests.github_schemas.judge import faults_of_payload, kind_of
