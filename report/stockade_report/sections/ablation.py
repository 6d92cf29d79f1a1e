"""One RSA decryption without and with each parallel layer, the parts it is made of, and how long keys take."""

from ..pictures import Panel, Picture, Table, bar_room, bars
from ..quantities import ratio_text, threads_text, time_text
from .choice import of_kind

TITLE = "RSA: layers and keys"
COMMANDS = ("stockade bench rsa --ablation --json", "stockade bench rsa --keys --json")


def _layer_name(layer):
    return threads_text(layer["layers"], layer["threads"])


def ablation_picture(run, ablation, name="ablation", study=""):
    """The layers of a decryption; `study` goes before the title."""
    layers = [layer for layer in ablation["layers"] if layer["measured"]]
    values = [
        (
            _layer_name(layer),
            layer["seconds_median"] * 1e3,
            layer["layers"] if layer["layers"] in ("serial", "openssl") else "layers",
        )
        for layer in layers
    ]

    def draw(axes, styles):
        for name in ("layers", "serial"):
            styles.number(name)
        bars(axes, styles, values, lambda ms: time_text(ms / 1e3))
        axes.set_xlabel("ms; shorter is better")

    rows = [
        [
            layer["layers"],
            str(layer["threads"]),
            time_text(layer["seconds_median"]),
            time_text(layer["seconds_low"]),
            time_text(layer["seconds_high"]),
            ratio_text(layer.get("ratio_to_serial")),
        ]
        if layer["measured"]
        else [layer["layers"], str(layer["threads"]), layer.get("reason", "not measured"), "", "", ""]
        for layer in ablation["layers"]
    ]
    panel = Panel("", draw, height=26 * len(values) + 8, left=bar_room([v[0] for v in values]), right=24, columns=1)
    row = ablation["vector_row"] or "none here"
    return Picture(
        f"{name}-{run.slug}",
        f"{study}RSA-{ablation['bits']} decryption",
        f"AVX: the vector row ({row}). TT: one thread squares while another multiplies. OMP: both halves at once.",
        [panel],
        Table(["layers", "threads", "median", "fastest", "slowest", "over serial"], rows),
        [run],
    )


def parts_table(ablation):
    header = ["row", "Mp", "Mq", "squarings", "products", "Montgomery set-up", "one product", "one square"]
    rows = [
        [
            part["row"],
            time_text(part["p_seconds"]),
            time_text(part["q_seconds"]),
            f"{part['squarings']:,}",
            f"{part['multiplications']:,}",
            time_text(part["setup_seconds"]),
            time_text(part["multiply_seconds"]),
            time_text(part["square_seconds"]),
        ]
        for part in ablation["parts"]
    ]
    return Table(header, rows)


def _keys(run):
    rows = [
        [
            f"RSA-{r['bits']}",
            r["operation"],
            r["contender"],
            str(r["runs"]),
            time_text(r["seconds_median"]),
            time_text(r["seconds_p90"]),
            ratio_text(r["ratio_to_openssl"]),
        ]
        for r in run.results
    ]
    return Table(["key", "what", "who", "runs", "median", "nine tenths within", "over OpenSSL"], rows)


def build(runs):
    found = []
    for run in of_kind(runs, "rsa-ablation"):
        ablation = run.json["ablation"]
        if run.measured:
            found.append(ablation_picture(run, ablation))
        if ablation["parts"]:
            found.append((run, "The parts of a decryption, on one thread", parts_table(ablation)))
    return found + [(run, "Making keys, and loading them", _keys(run)) for run in of_kind(runs, "rsa-keys")]
