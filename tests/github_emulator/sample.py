"""The sample world of the demo: an organization, its people, their repositories and what they did.

The files lie in `sample_files`, one folder for each step of the history; `.sample` at the end of
their names keeps linters and agents from taking them for files of this project.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from .settings import World

FOLDER = Path(__file__).with_name("sample_files")
SUFFIX = ".sample"
AGENTS = "acme/agents"
STARTER = "acme/starter"
ODD_BRANCH = "experiment/100%-#1&ünï+x"
GRADER = "rollouts/multiply-local-openai/multiply_rollout/grader.py"


@dataclass(frozen=True)
class Step:
    """One push of the history, some hours ago; a new branch starts at another."""

    branch: str
    author: str
    hours: int
    message: str
    files: Mapping[str, bytes]
    start: str | None = None


def seed(world: World) -> None:
    """Build the sample world in an empty emulator; nothing of it is delivered as a webhook."""
    deliver, world.deliver = world.deliver, None
    world.add_user("ada", name="Ada Lovelace", email="ada@acme.example")
    world.add_user("linus", name="Linus Berg", email="linus@acme.example")
    world.add_user("grace", name="Grace Hopper", email="grace@acme.example")
    world.add_organization("acme", name="Acme", owners=["ada", "grace"], members=["linus"])
    world.create_repository(AGENTS, description="Agents that Acme evaluates and trains")
    world.create_repository(STARTER, description="A workspace with one rollout, to begin with")
    for step in _agents():
        _take(world, AGENTS, step)
    files = {**files_of("base"), **files_of("starter")}
    _take(world, STARTER, Step("main", "ada", 220, "Start with one rollout", files))
    world.install("acme", repositories=[AGENTS, STARTER], by="ada")
    world.deliver = deliver


def files_of(step: str) -> dict[str, bytes]:
    """Path → content, of one folder of `sample_files`."""
    folder = FOLDER / step
    return {
        path.relative_to(folder).as_posix().removesuffix(SUFFIX): path.read_bytes()
        for path in sorted(folder.rglob(f"*{SUFFIX}"))
    }


def _agents() -> list[Step]:
    local = files_of("multiply-local-openai")
    strands = files_of("multiply-local-strands")
    harbor = files_of("multiply-harbor-strands")
    strict = {GRADER: local[GRADER].replace(rb"[\d,\s]+", rb"\d+")}
    lenient = {GRADER: local[GRADER]}
    broken = files_of("fix-eval-config")
    reward, stepwise = files_of("feature-reward-grader"), files_of("feature-reward-stepwise")
    experiment = files_of("experiment")
    return [
        Step("main", "ada", 146, "Start from the workspace template", files_of("base")),
        Step("main", "ada", 121, "Add multiply-local-openai", local | strict),
        Step("main", "linus", 75, "Add multiply-local-strands", strands),
        Step("main", "ada", 52, "Add multiply-harbor-strands", harbor),
        Step("main", "linus", 27, "Accept separators in answers\n\n1,024 is 1024.", lenient),
        Step("fix/eval-config", "linus", 9, "Evaluate three times", broken, "main"),
        Step("feature/reward", "ada", 6, "Reward coming close", reward, "main"),
        Step(ODD_BRANCH, "linus", 4, "Say what is tried here", experiment, "main"),
        Step("feature/reward", "ada", 2, "Add multiply-stepwise", stepwise),
    ]


def _take(world: World, full_name: str, step: Step) -> None:
    when = datetime.fromtimestamp(world.clock(), UTC) - timedelta(hours=step.hours)
    world.push(
        full_name,
        step.branch,
        step.files,
        message=step.message,
        author=step.author,
        start=step.start,
        when=when,
    )
