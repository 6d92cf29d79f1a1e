"""The command line of the report."""

import argparse
import os
import pathlib
import sys
import tempfile

from . import reader

EPILOG = "exit status: 0 done; 1 a file cannot be used; 2 the command line is wrong"


def _fail(text):
    print(f"stockade-report: error: {text}", file=sys.stderr)
    return 1


def _write(path, content):
    """The whole file or nothing."""
    path = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _read(paths):
    """The runs of these files, but for those of kinds that are not drawn, which are named."""
    runs = []
    for path in paths:
        try:
            runs.append(reader.read(path))
        except reader.UnknownSchema as error:
            if len(paths) == 1:
                raise
            print(f"stockade-report: note: left out: {error}", file=sys.stderr)
    if not runs:
        raise reader.Refused("none of the files is of a kind that is drawn")
    return runs


def _page(options):
    runs = _read(options.results)
    # Only the page needs matplotlib.
    from . import page, pictures

    made = page.make(runs)
    drawn = [(picture.name, pictures.files(picture)) for picture in made.pictures] if options.pictures else []
    for name, (svg, png) in drawn:
        folder = pathlib.Path(options.pictures)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / f"{name}.svg", svg)
        _write(folder / f"{name}.png", png)
    pathlib.Path(options.output).parent.mkdir(parents=True, exist_ok=True)
    _write(options.output, made.html)
    return 0


def _collect(options):
    from . import collect

    commit = options.commit if options.commit is not None else collect.commit_of(pathlib.Path(options.stockade).parent)
    return (
        0
        if collect.collect(options.stockade, options.output, options.quick, commit, options.only or (), options.name)
        else 1
    )


def _benchmarks(options):
    from . import benchmarks

    page = pathlib.Path(options.page)
    text = page.read_text(encoding="utf-8")
    # The page lies in docs/, and results are named from the folder above.
    wanted = benchmarks.rewritten(text, _read(options.results), page.resolve().parent.parent)
    if wanted == text:
        return 0
    if options.check:
        return _fail(f"{page}: not what the results say; 'make benchmarks' makes it so")
    _write(page, wanted)
    return 0


def _parser_of_page():
    parser = argparse.ArgumentParser(
        prog="stockade-report",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes one HTML page of what 'stockade bench ... --json' has printed. Further commands: 'collect' "
        "runs every benchmark, 'benchmarks' brings docs/benchmarks.md up to date; each has --help.",
    )
    parser.add_argument("results", nargs="+", metavar="RESULTS.json")
    parser.add_argument("-o", "--output", required=True, metavar="PAGE.html", help="the page; replaced if it is there")
    parser.add_argument("--pictures", metavar="FOLDER", help="each picture as SVG and PNG in this folder as well")
    parser.set_defaults(run=_page)
    return parser


def _parser_of_collect():
    parser = argparse.ArgumentParser(
        prog="stockade-report collect",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs every benchmark that this machine can run; writes FOLDER/MACHINE-WHAT.json for each.",
    )
    parser.add_argument("--stockade", required=True, metavar="PATH", help="the command that is measured")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="some seconds each, and coarser")
    parser.add_argument("--only", nargs="+", metavar="WHAT", help="such as aes rsa-queue gpu; default all")
    parser.add_argument("--commit", metavar="ID", help="what the command was built from; default what is checked out")
    parser.add_argument("--name", metavar="MACHINE", help="in the files' names; default the processor and its cores")
    parser.set_defaults(run=_collect)
    return parser


def _parser_of_benchmarks():
    parser = argparse.ArgumentParser(
        prog="stockade-report benchmarks",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Brings the tables of a page to what the results say; the text between them stays.",
    )
    parser.add_argument("results", nargs="+", metavar="MACHINE-WHAT.json")
    parser.add_argument("--page", required=True, metavar="PAGE.md")
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if there is a difference")
    parser.set_defaults(run=_benchmarks)
    return parser


PARSERS = {"collect": _parser_of_collect, "benchmarks": _parser_of_benchmarks}


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    make_parser = PARSERS.get(arguments[0]) if arguments else None
    options = make_parser().parse_args(arguments[1:]) if make_parser else _parser_of_page().parse_args(arguments)
    try:
        return options.run(options)
    except reader.Refused as error:
        return _fail(error)
    except OSError as error:
        return _fail(f"{error.filename or ''}: {error.strerror or error}")


if __name__ == "__main__":
    sys.exit(main())
