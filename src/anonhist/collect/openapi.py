"""The description of the server's interface, for programs that make clients."""

from __future__ import annotations

from typing import Any

from anonhist.collect.lines import STREAM_TYPE
from anonhist.collect.served import MOST_BYTES, MOST_REPORTS

_DIGEST = {
    "name": "digest",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}
_LINE = {
    "type": "object",
    "required": ["id", "reports"],
    "additionalProperties": False,
    "description": "One line of JSON, without spaces, in this order; values have a fixed number of digits.",
    "properties": {
        "id": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "Two bytes of the day that the collection's description says, and 14 random ones.",
        },
        "reports": {
            "type": "object",
            "description": "A list for each column of the survey.",
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_REPORTS,
                "items": {"type": "string", "pattern": "^[0-9a-f]+$"},
            },
        },
    },
}
_STREAM = {
    "type": "string",
    "contentMediaType": STREAM_TYPE,
    "description": (
        "For gateways: whole numbers of 8 to 64 bits, or fixed-size binary, in the survey's columns, uncompressed, in "
        "at most 100 batches, with their end marker. The metadata of the schema have the id."
    ),
}
_BODIES = {"text/plain": {"schema": _LINE}, STREAM_TYPE: {"schema": _STREAM}}
_ANSWERS = {
    "200": "The reports are stored, except those that are refused, by their row; also if they were before.",
    "403": "The collection is for invited people, and the id is no invitation: drop the report.",
    "408": "The body did not arrive within 10 seconds.",
    "410": "The collection has ended, or the day is too old or in the future: drop the report.",
    "413": f"The body has more than {MOST_BYTES:,} bytes.",
    "422": "This is not a line of reports of this collection, or all of them are refused.",
    "429": "Too many requests came from this address.",
    "503": "Send the same bytes again after Retry-After.",
    "507": "There is no room: send the same bytes again later.",
}


def _got(told: str, kind: str, *, digest: bool = True) -> dict[str, Any]:
    operation: dict[str, Any] = {"summary": told, "responses": {"200": {"description": told, "content": {kind: {}}}}}
    return {"get": operation, **({"parameters": [_DIGEST]} if digest else {})}


def openapi() -> dict[str, Any]:
    """Return the description, in the words of OpenAPI 3.1."""
    from anonhist.version import __version__

    json, page = "application/json", "text/html"
    tally = _got("Everything counted so far; of batches, those that are closed.", json)
    tally["get"]["security"] = [{"token": []}]
    return {
        "openapi": "3.1.0",
        "info": {"title": "anonhist: randomized reports", "version": __version__},
        "paths": {
            "/c": _got("The collections of this server.", json, digest=False),
            "/c/{digest}/": _got("Estimates, as a page.", page),
            "/c/{digest}/estimate": _got("Estimates of the last look; with ?format=csv, as a table.", json),
            "/c/{digest}/collection.json": _got("What devices load, with the day.", json),
            "/c/{digest}/tally": tally,
            "/c/{digest}/reports": {
                "parameters": [_DIGEST],
                "post": {
                    "summary": "Send randomized reports; repeat the same bytes until they are answered.",
                    "requestBody": {"required": True, "content": _BODIES},
                    "responses": {status: {"description": told} for status, told in _ANSWERS.items()},
                },
            },
            "/client.js": _got("The client for browsers.", "text/javascript", digest=False),
            "/healthz": _got("The process runs.", json, digest=False),
            "/readyz": _got("Reports can be stored.", json, digest=False),
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
