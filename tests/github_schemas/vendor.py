"""Developer's tool: renew what lies beside it of GitHub's own descriptions and example payloads.

    python -m tests.github_schemas.vendor

Run it after adding an address to ADDRESSES or an event to EVENTS, or to raise a version. It needs
npm; tests read only what it wrote. Each package is refused when its archive is not the one named
here. Of the descriptions only what a judge needs is kept, and written as plain JSON Schema 2020-12.
"""

import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LICENCE = "LICENSE-octokit"


@dataclass(frozen=True)
class Package:
    """One archive of npm; `gives` says what is kept of it, and in which file."""

    name: str
    version: str
    sha256: str
    gives: str

    @property
    def archive(self) -> str:
        """The name npm gives the file."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


REST = Package(
    "@octokit/openapi",
    "23.0.2",
    "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c",
    "`rest.json`: the answers of the API's addresses that the emulator serves",
)
WEBHOOKS = Package(
    "@octokit/openapi-webhooks",
    "12.1.0",
    "112b87c7dcda464640248dcf5965bcd69027c65bb45c26ae78fbf3f0d1eaa740",
    "`webhooks.json`: the payloads of the events that the emulator sends",
)
EXAMPLES = Package(
    "@octokit/webhooks-examples",
    "7.6.1",
    "89e6cb1c6345d32e3dd775617fa54effbdc26c859e514898d7728e95e9738280",
    "`examples.json`: example payloads, those of GitHub Enterprise where they differ",
)

ADDRESSES = {
    "/app": ["get"],
    "/app-manifests/{code}/conversions": ["post"],
    "/app/hook/config": ["get"],
    "/app/hook/deliveries": ["get"],
    "/app/hook/deliveries/{delivery_id}": ["get"],
    "/app/hook/deliveries/{delivery_id}/attempts": ["post"],
    "/app/installation-requests": ["get"],
    "/app/installations": ["get"],
    "/app/installations/{installation_id}": ["get"],
    "/app/installations/{installation_id}/access_tokens": ["post"],
    "/installation/repositories": ["get"],
    "/installation/token": ["delete"],
    "/meta": ["get"],
    "/rate_limit": ["get"],
    "/repos/{owner}/{repo}": ["get"],
    "/repos/{owner}/{repo}/branches": ["get"],
    "/repos/{owner}/{repo}/collaborators/{username}/permission": ["get"],
    "/repos/{owner}/{repo}/commits": ["get"],
    "/repos/{owner}/{repo}/commits/{ref}": ["get"],
    "/repos/{owner}/{repo}/installation": ["get"],
    "/repos/{template_owner}/{template_repo}/generate": ["post"],
    "/user": ["get"],
    "/user/{account_id}": ["get"],
    "/user/emails": ["get"],
    "/user/installations": ["get"],
    "/user/installations/{installation_id}/repositories": ["get"],
    "/users/{username}": ["get"],
}
# Where a description cannot be met: here it wants each account to be a person and an enterprise at
# once. A list of installations is described rightly at /user/installations.
AMENDED = {
    ("/app/installations", "get", "200"): {
        "type": "array",
        "items": {"$ref": "#/components/schemas/installation"},
    }
}
# What GitHub answers to any call, whether it is described for that address or not.
ANY_ERROR = {"$ref": "#/components/schemas/basic-error"}
EVENTS = re.compile(
    r"push|create|delete|ping|meta-.+|github-app-authorization-.+"
    r"|installation(-repositories|-target)?-[a-z]+|installation-new-permissions-accepted"
    r"|repository-(archived|created|deleted|edited|privatized|publicized|renamed|transferred"
    r"|unarchived)"
)
EXAMPLE_EVENTS = {
    *("create", "delete", "github_app_authorization", "installation", "installation_repositories"),
    *("installation_target", "member", "meta", "organization", "ping", "public", "push"),
    "repository",
}
EDITIONS = ["api.github.com", "ghes-31", "ghes-32", "ghes-33", "ghes-34", "ghes-35"]
NO_JUDGE_NEEDS = {
    *("description", "title", "summary", "example", "examples", "default", "deprecated"),
    *("discriminator", "externalDocs", "readOnly", "writeOnly", "xml", "nullable"),
}


def unpack(package: Package, folder: Path) -> Path:
    """Fetch the archive with npm, check its hash, and return where its files are."""
    command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = folder / package.archive
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != package.sha256:
        raise SystemExit(f"{archive.name} has the hash {found}, not {package.sha256}: not used.")
    target = folder / archive.stem
    with tarfile.open(archive) as files:
        files.extractall(target, filter="data")
    return target / "package"


def schema(node: Any, *, names: bool = False) -> Any:
    """An OpenAPI 3.0 or 3.1 schema as JSON Schema. Below `properties` keys are names, not words."""
    if isinstance(node, list):
        return [schema(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: schema(entry) for name, entry in node.items()}
    if isinstance(node.get("$ref"), str):
        return {"$ref": f"#/schemas/{node['$ref'].rsplit('/', 1)[1]}"}
    kept = {
        word: schema(entry, names=word in ("properties", "patternProperties"))
        for word, entry in node.items()
        if word not in NO_JUDGE_NEEDS and not word.startswith("x-")
    }
    # OpenAPI 3.0 says so beside whatever else it says, `oneOf` and `enum` too.
    return {"anyOf": [{"type": "null"}, kept]} if node.get("nullable") is True else kept


def answer(described: dict[str, Any], components: dict[str, Any]) -> Any:
    """The schema of one answer's JSON body; None when it has none."""
    if "$ref" in described:
        described = components["responses"][described["$ref"].rsplit("/", 1)[1]]
    content = described.get("content", {}).get("application/json")
    return schema(content["schema"]) if content else None


def referenced(node: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(node, list):
        for entry in node:
            yield from referenced(entry)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rsplit("/", 1)[1]
        for entry in node.values():
            yield from referenced(entry)


def closure(roots: Any, components: dict[str, Any]) -> dict[str, Any]:
    """All schemas that the roots refer to, directly or not."""
    found: dict[str, Any] = {}
    waiting = set(referenced(roots))
    while waiting:
        name = waiting.pop()
        found[name] = schema(components[name])
        waiting |= {more for more in referenced(found[name]) if more not in found}
    return dict(sorted(found.items()))


def rest(package: Path) -> dict[str, Any]:
    """Address → method → status → schema."""
    described = json.loads((package / "generated/api.github.com.json").read_text())
    components = described["components"]
    addresses = {
        address: {
            method: {
                status: schema(AMENDED[(address, method, status)])
                if (address, method, status) in AMENDED
                else answer(response, components)
                for status, response in described["paths"][address][method]["responses"].items()
            }
            for method in methods
        }
        for address, methods in ADDRESSES.items()
    }
    schemas = closure([addresses, ANY_ERROR], components["schemas"])
    return {"answers": addresses, "schemas": schemas}


def webhooks(package: Path) -> dict[str, Any]:
    """Event, with its action after a dash → schema of the payload."""
    described = json.loads((package / "generated/api.github.com.json").read_text())
    payloads = {
        name: schema(webhook["post"]["requestBody"]["content"]["application/json"]["schema"])
        for name, webhook in sorted(described["webhooks"].items())
        if EVENTS.fullmatch(name)
    }
    schemas = closure(payloads, described["components"]["schemas"])
    return {"payloads": payloads, "schemas": schemas}


def examples(package: Path) -> list[dict[str, Any]]:
    """Every example of our events, with edition, event and its place in the package's list."""
    found: dict[str, dict[str, Any]] = {}
    for edition in EDITIONS:
        for event in json.loads((package / edition / "index.json").read_text()):
            if event["name"] not in EXAMPLE_EVENTS:
                continue
            for number, payload in enumerate(event["examples"]):
                entry = {"edition": edition, "event": event["name"], "number": number}
                found.setdefault(json.dumps(payload, sort_keys=True), {**entry, "payload": payload})
    return list(found.values())


def write(name: str, content: Any) -> None:
    """One entry a line, so that a new version can be read as a difference."""
    if isinstance(content, list):
        text = "[\n" + ",\n".join(map(compact, content)) + "\n]\n"
    else:
        parts = [
            f"{json.dumps(part)}:{{\n"
            + ",\n".join(f"{json.dumps(key)}:{compact(value)}" for key, value in entries.items())
            + "\n}"
            for part, entries in content.items()
        ]
        text = "{" + ",\n".join(parts) + "}\n"
    (HERE / name).write_text(text)


def compact(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write_licence(openapi: Path, example_author: str) -> None:
    """The licence of all three: the package of examples names MIT and its author, no more."""
    text = (openapi / "LICENSE").read_text().strip()
    also = f"`{EXAMPLES.name}` comes under the same licence, Copyright (c) {example_author} and"
    (HERE / LICENCE).write_text(f"{text}\n\n{also} contributors.\n")


def write_readme() -> None:
    """Where everything comes from."""
    rows = [
        f"| {each.gives} | {each.name} {each.version} | [MIT]({LICENCE}) | `{each.sha256}` |"
        for each in (REST, WEBHOOKS, EXAMPLES)
    ]
    lines = [
        "# GitHub's own descriptions",
        "",
        "They judge the emulator in tests. Written by `python -m tests.github_schemas.vendor`,",
        "which fetches each package with npm, checks its hash and keeps what a judge needs.",
        "",
        "| What | From | Licence | SHA-256 of the package's archive |",
        "|---|---|---|---|",
        *rows,
    ]
    (HERE / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Fetch, trim, write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        openapi, hooks, samples = (unpack(each, folder) for each in (REST, WEBHOOKS, EXAMPLES))
        write("rest.json", rest(openapi))
        write("webhooks.json", webhooks(hooks))
        write("examples.json", examples(samples))
        author = json.loads((samples / "package.json").read_text())["author"]
        write_licence(openapi, author)
    write_readme()


if __name__ == "__main__":
    main()
