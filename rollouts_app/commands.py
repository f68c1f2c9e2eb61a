"""The commands that people copy into a shell. Pure; what comes from a repository is quoted."""

import shlex

from rollouts_app.addresses import GITHUB_COM, is_loopback
from rollouts_app.templatetags.rollouts import visible

# What printf would take for its own, and what would end its quotes.
_MEANT_FOR_PRINTF = "%\\'"


def init_command(name: str) -> str:
    """Makes a rollout's files in a clone. `name` is one that `osmosis rollout init` accepts."""
    return f"osmosis rollout init {name}"


def publish_commands(name: str) -> str:
    """The git lines that publish what `osmosis rollout init` wrote."""
    return "\n".join(
        [
            "git add rollouts configs",
            f'git commit -m "Add rollout {name}"',
            "git push -u origin HEAD",
        ]
    )


def clone_commands(repository_page: str) -> str:
    """Clone the repository whose page is at this address, and step into the clone."""
    folder = repository_page.rpartition("/")[2]
    return f"git clone {quoted(f'{repository_page}.git')}\ncd {quoted(folder)}"


def list_command(branch: str, github_url: str) -> str:
    """Lists the rollouts of a branch in the terminal; empty where `osmosis` cannot do that.

    It accepts repositories of github.com alone. The demo, whose GitHub is on this machine, gives
    its clones a github.com name.
    """
    if github_url != GITHUB_COM and not is_loopback(github_url):
        return ""
    # A name that begins with a dash would be taken for an option.
    link = "=" if branch.startswith("-") else " "
    return f"osmosis rollout list --branch{link}{quoted(branch)}"


def quoted(text: str) -> str:
    """One word of a POSIX shell that means exactly the text, with nothing hidden in it.

    Characters that show nothing, or bend what follows them, are written as octal escapes, which
    printf turns back: what is pasted is what was seen. The text must not end in a newline.
    """
    if visible(text) == text:
        return shlex.quote(text)
    return f"\"$(printf '{''.join(_for_printf(character) for character in text)}')\""


def _for_printf(character: str) -> str:
    if visible(character) == character and character not in _MEANT_FOR_PRINTF:
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
