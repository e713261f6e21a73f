"""Types of the JavaScript client: TypeScript accepts them, and client.d.ts says what client.js does."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[2] / "src" / "anonhist" / "local" / "client"
TSC = shutil.which("tsc", path=os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", "")]))
OPTIONS = "--noEmit --allowJs --checkJs --strict --noUnusedLocals --target es2022 --module es2022 --lib es2022,dom"


@cache
def is_installed() -> bool:
    """Whether there is a compiler that reads the tags of the client: TypeScript 5 or newer."""
    if TSC is None:
        return False
    told = subprocess.run([TSC, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Version (\d+)", told)
    return found is not None and int(found[1]) >= 5


pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not is_installed(), reason="TypeScript 5 is not installed: the types are not checked"),
]
# client.d.ts is read for "./client.js", and "./made.js" is the client itself.
AGREEMENT = """
import * as said from "./client.js";
import * as made from "./made.js";

// Whatever is said is there, and fits.
export const module: typeof said = made;
// Whether types are the same, optional fields included.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
// Nothing else is there.
export const names: Same<keyof typeof said, keyof typeof made> = true;
export const members: Same<keyof said.Collection, keyof made.Collection> = true;
// Functions and methods take no more than is said, but for pages that name no digest: those are refused.
export const taken: {
  [N in "answer" | "answered" | "simulate" | "send"]:
    Same<Parameters<said.Collection[N]>, Parameters<made.Collection[N]>>;
} = { answer: true, answered: true, simulate: true, send: true };
export const given: {
  [N in Exclude<keyof typeof said, "Collection">]: Same<Parameters<(typeof said)[N]>, Parameters<(typeof made)[N]>>;
} = { systemWords: true, sha256: true, keyedHash: true, bucket: true, hex: true, randomizer: true };
export const pinned: said.Pinned extends NonNullable<Parameters<typeof made.Collection.load>[1]> ? true : false = true;
"""
# What is changed in which file, so that they no longer agree or the code is wrong.
BROKEN = {
    "an option less": ("client.d.ts", "consented?: boolean; within?: number", "consented?: boolean"),
    "an option more": ("client.d.ts", "within?: number", "within?: number; tries?: number"),
    "another result": ("client.d.ts", "Promise<string>", "Promise<string[]>"),
    "a name more": ("client.d.ts", "export function hex(", "export function octal(): string;\nexport function hex("),
    "a name less": ("client.d.ts", "export function sha256(message: Uint8Array): Uint8Array;\n", ""),
    "a method less": ("client.d.ts", "  simulate(value: unknown): string;\n", ""),
    "a digest of another type": ("client.d.ts", "{ digest: string }", "{ digest: number }"),
    "a number where words are taken": ("client.js", "draw(code, systemWords)", "draw(code, 7)"),
    "a page that asks for too much": ("try.js", "collection.description", "collection.descriptions"),
}


def complaints_in(folder: Path) -> dict[str, str]:
    """Return what the compiler says of the client, and of each broken one: in one run, since it starts slowly."""
    assert TSC is not None
    roots = []
    for number, what in enumerate(["as it is", *BROKEN]):
        here = folder / str(number)
        shutil.copytree(CLIENT, here)
        if what in BROKEN:
            name, whole, broken = BROKEN[what]
            text = (here / name).read_text(encoding="utf-8")
            assert text.count(whole) == 1, what
            (here / name).write_text(text.replace(whole, broken), encoding="utf-8")
        shutil.copy(here / "client.js", here / "made.js")
        (here / "agreement.ts").write_text(AGREEMENT, encoding="utf-8")
        roots += [f"{number}/{name}" for name in ("made.js", "try.js", "agreement.ts")]
    command = [TSC, *OPTIONS.split(), "--pretty", "false", *roots]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    assert re.sub(r"^\d+/\S+\(\d+,\d+\): .*\n|^ .*\n", "", told, flags=re.MULTILINE) == ""
    return {
        what: "".join(line for line in told.splitlines(keepends=True) if line.startswith(f"{number}/"))
        for number, what in enumerate(["as it is", *BROKEN])
    }


def test_the_client_and_the_page_have_the_types_they_say(tmp_path: Path) -> None:
    complaints = complaints_in(tmp_path)
    assert complaints.pop("as it is") == ""
    assert [what for what, found in complaints.items() if not found] == []
