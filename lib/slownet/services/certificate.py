"""Certificates for servers, of a size that is asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from slownet.model.errors import ServiceError

NAME = "host-{:05}.slownet.example"
OF_A_NAME, WITHOUT_NAMES = 28, 338
"""Bytes of the certificate for each name that it is valid for, and those of its Certificate message without any name. Names are
what makes real certificates large that serve many sites."""


def certificate(folder: Path, size: int = 0) -> tuple[Path, Path]:
    """Make a self-signed certificate with an ECDSA key.

    Parameters
    ----------
    folder : Path
        Where to write it.
    size : int
        About how many bytes the server's Certificate message will have; at least some 370.

    Returns
    -------
    (Path, Path)
        The certificate and its key.

    Raises
    ------
    ServiceError
        openssl is missing or fails.
    """
    configuration, path, key = folder / "certificate.conf", folder / "certificate.pem", folder / "key.pem"
    names = (f"DNS:{NAME.format(number)}" for number in range(max(1, (size - WITHOUT_NAMES) // OF_A_NAME)))
    configuration.write_text(
        "[req]\ndistinguished_name=who\nx509_extensions=more\nprompt=no\n[who]\nCN=slownet\n"
        f"[more]\nsubjectAltName={','.join(names)}\n"
    )
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
    try:
        done = subprocess.run(
            [*words, "-config", configuration, "-keyout", key, "-out", path], capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise ServiceError("openssl is not installed", fix="apt-get install openssl") from error
    if done.returncode:
        raise ServiceError(f"openssl makes no certificate: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return path, key
