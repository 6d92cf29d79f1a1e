"""Numbers as people read them."""

import math
import re


def size_text(count):
    """1024: "1 KiB"; 1000: "1 KB"; other numbers of bytes as they are."""
    for unit, name in (
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
        (10**9, "GB"),
        (10**6, "MB"),
        (1000, "KB"),
    ):
        if count >= unit and count % unit == 0:
            return f"{count // unit:,} {name}"
    return f"{count:,} B"


def figure(value):
    """Three digits, and more only left of the point."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{min(max(places, 0), 12)}f}"


def time_text(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * unit:
            return f"{figure(seconds / unit)} {name}"
    return f"{figure(seconds * 1e9)} ns"


def ratio_text(value):
    return "–" if value is None else f"{figure(value)}×"


def percent(share):
    return f"{share * 100:+.1f} %"


def date_text(date):
    """2026-11-22T10:16:45Z: "2026-11-22 10:16 UTC"; anything else as it is."""
    if len(date) == 20 and date[10] == "T" and date[-1] == "Z":
        return f"{date[:10]} {date[11:16]} UTC"
    return date


def operation_text(cipher, operation, streams=1):
    """ "aes-256-gcm", "seal": "AES-256-GCM seal"; with many messages " × 16"."""
    many = f" × {streams}" if streams > 1 else ""
    return f"{cipher.upper()} {operation}{many}"


def threads_text(name, threads):
    return f"{name}, {threads} threads" if threads > 1 else name


def slug(text):
    """For names of files and places: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
