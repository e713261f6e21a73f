"""Local mechanisms by name, loaded on first use, and surveys from their description in a file."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from anonhist.catalogue import load
from anonhist.catalogue.randomizers import RANDOMIZERS
from anonhist.errors import AnonhistError, UsageError
from anonhist.local.surveys.alphabet import Alphabet
from anonhist.local.surveys.survey import COMMON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.local.surveys.survey import Survey


def survey_class(name: str) -> type[Survey]:
    """Return the mechanism with this name.

    Raises
    ------
    UsageError
        If no mechanism has this name.

    Examples
    --------
    >>> survey_class("k-rr").__name__
    'KRR'
    """
    if not isinstance(name, str) or name not in RANDOMIZERS:
        raise UsageError(f"There is no local mechanism {name!r:.80}; there are {', '.join(RANDOMIZERS)}.")
    found: type[Survey] = load(RANDOMIZERS[name])
    return found


def parameter_names(name: str) -> tuple[str, ...]:
    """Return the parameters that the mechanism of a name takes besides epsilon and a title.

    Examples
    --------
    >>> parameter_names("subset-selection")
    ('alphabet', 'subset_size')
    """
    return tuple(each.name for each in fields(survey_class(name)) if each.init and each.name not in COMMON)


def needed_names(name: str) -> tuple[str, ...]:
    """Return those of :func:`parameter_names` that are required.

    Examples
    --------
    >>> needed_names("heavy-hitters")
    ('max_bytes',)
    """
    missing = {each.name for each in fields(survey_class(name)) if each.default is MISSING}
    return tuple(each for each in parameter_names(name) if each in missing)


def takes_epsilon(name: str) -> bool:
    """Return whether a mechanism takes epsilon, rather than deriving it from its parameters.

    Examples
    --------
    >>> takes_epsilon("k-rr")
    True
    """
    return any(each.init and each.name == "epsilon" for each in fields(survey_class(name)))


def survey_from(name: str, *, epsilon: str, title: str, parameters: Mapping[str, Any]) -> Survey:
    """Make a survey from its own description, or refuse any other description.

    Parameters
    ----------
    name
        Of the mechanism.
    epsilon, title
        As text.
    parameters
        :attr:`Survey.parameters` of the survey wanted, as JSON values.

    Raises
    ------
    UsageError
        If no survey describes itself by these parameters.

    Examples
    --------
    >>> survey = survey_class("k-rr")(alphabet=["a", "b"], epsilon=1)
    >>> survey_from("k-rr", epsilon="1", title="", parameters=survey.parameters) == survey
    True
    """
    kind = survey_class(name)
    if not isinstance(epsilon, str) or not isinstance(title, str):
        raise UsageError("The epsilon and the title of a survey must be text.")
    known = {kind.in_files.get(each, each): each for each in parameter_names(name)}
    if not isinstance(parameters, dict) or not set(parameters) <= set(known):
        raise UsageError(f"The parameters of {name} must be among {', '.join(known)}, and nothing else.")
    try:
        described = _canonical(parameters)
        arguments: dict[str, Any] = {
            known[key]: _alphabet(value) if key == "alphabet" else value for key, value in parameters.items()
        }
        if takes_epsilon(name):
            arguments["epsilon"] = epsilon
        survey = kind(title=title, **arguments)
    except AnonhistError as error:
        raise UsageError(str(error)) from None
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError):
        raise UsageError(f"The parameters do not have the types that {name} takes.") from None
    if str(survey.epsilon) != epsilon or _canonical(survey.parameters) != described:
        raise UsageError(f"Epsilon or the parameters are incomplete, or not written as {name} writes them.")
    return survey


def _alphabet(value: Any) -> Alphabet | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) not in ({"size"}, {"labels"}, {"labels", "other"}):
        raise UsageError(
            "An alphabet is described by its size, or by its labels and, optionally, by which of them is other."
        )
    labels = value.get("size", value.get("labels"))
    if not isinstance(labels, int if "size" in value else list):
        raise UsageError("The size of an alphabet must be a whole number, its labels a list of texts.")
    return Alphabet(labels, other=value.get("other"))


def _canonical(parameters: Mapping[str, Any]) -> str:
    """Write parameters so that 1, 1.0 and true, which are equal in Python, are different texts."""
    return json.dumps(parameters, sort_keys=True, allow_nan=False)
