"""Proxies as `deploy/` configures them, in front of a web server of this machine, on https."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.settings import free_port
from tests.waiting import wait_until
from tests.workers import ROOT

DEPLOY = ROOT / "deploy"
EXAMPLE = "rollouts.example.org"
HOST = "localhost"

NGINX = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/osmosis-web.conf;
}}
"""
CADDY = "{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {folder}/caddy\n}}\n{site}"


@dataclass(frozen=True)
class Proxy:
    """Where a proxy listens, whom it asks, and what it shows as its certificate."""

    folder: Path
    port: int
    plain_port: int
    backend: str

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"


def program(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped, or fails where it must run."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if found is None:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"{name} is not installed: on Debian, apt install {package}.")
    return found


def nginx_command(proxy: Proxy) -> list[str]:
    """nginx with `deploy/nginx.conf`, but for names, ports and files."""
    site = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        (f"https://{EXAMPLE}", proxy.url),
        (f"server_name {EXAMPLE}", f"server_name {HOST}"),
        ("listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{proxy.port} "),
        ("127.0.0.1:8000 max_fails", f"{proxy.backend} max_fails"),
        (f"/etc/letsencrypt/live/{EXAMPLE}/fullchain.pem", str(proxy.certificate)),
        (f"/etc/letsencrypt/live/{EXAMPLE}/privkey.pem", str(proxy.key)),
    ):
        assert old in site
        site = site.replace(old, new)
    (proxy.folder / "osmosis-web.conf").write_text(site)
    user = "user root;" if os.geteuid() == 0 else ""
    main = proxy.folder / "nginx.conf"
    main.write_text(NGINX.format(folder=proxy.folder, user=user))
    return [program("nginx", "nginx-light"), "-e", "stderr", "-c", str(main)]


def caddy_command(proxy: Proxy) -> list[str]:
    """Caddy with `deploy/Caddyfile`, but for names, ports and certificate."""
    site = (DEPLOY / "Caddyfile").read_text()
    for old, new in (
        (f"{EXAMPLE} {{", f"{proxy.url} {{\n\ttls {proxy.certificate} {proxy.key}"),
        ("127.0.0.1:8000 {", f"{proxy.backend} {{"),
    ):
        assert old in site
        site = site.replace(old, new)
    main = proxy.folder / "Caddyfile"
    main.write_text(CADDY.format(folder=proxy.folder, site=site))
    return [program("caddy", "caddy"), "run", "--adapter", "caddyfile", "--config", str(main)]


Command = Callable[[Proxy], list[str]]


@contextmanager
def standing_before(backend: str, port: int, folder: Path, command: Command) -> Iterator[Proxy]:
    """A proxy on this port, before what listens at `backend` (host:port)."""
    proxy = Proxy(folder, port, free_port(), backend)
    make_certificate(proxy)
    line = command(proxy)
    process = subprocess.Popen(
        line, start_new_session=True, env={**os.environ, "HOME": str(folder)}
    )
    try:
        wait_until(lambda: process.poll() is not None or _answers(proxy), seconds=60)
        assert process.poll() is None
        yield proxy
    finally:
        process.terminate()
        process.wait(10)


def _answers(proxy: Proxy) -> bool:
    try:
        return requests.get(f"{proxy.url}/healthz", verify=str(proxy.certificate), timeout=5).ok
    except requests.RequestException:
        return False


def make_certificate(proxy: Proxy) -> None:
    """A certificate that vouches for itself, for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    proxy.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    proxy.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
