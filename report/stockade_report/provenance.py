"""Where a figure comes from, in words."""

from .quantities import date_text

# Below this share of the time on a core something else ran as well.
ALONE = 0.97


def disturbance(run):
    """ "had its core for 57 % of the time", or "" for a run that had the machine to itself, or does not say."""
    share = run.share_on_core()
    return "" if share is None or share >= ALONE else f"had its core for {share * 100:.0f} % of the time"


def facts(run):
    """Machine, GPUs, date and commit of a run."""
    cores = run.machine["cores"]
    parts = [f"{run.machine['cpu']}, {cores} core{'s' if cores != 1 else ''}"]
    gpus = sorted({gpu.get("name", "") for gpu in run.json.get("gpus", []) if isinstance(gpu, dict)})
    if gpus:
        parts.append(", ".join(gpus))
    return [*parts, date_text(run.date), f"commit {run.commit}" if run.commit else "commit not recorded"]


def line(run):
    """All of it in one line, for a picture that stands alone."""
    parts = [*facts(run), run.command or run.path.name]
    if disturbance(run):
        parts.append(f"disturbed: {disturbance(run)}")
    return " · ".join(parts)
