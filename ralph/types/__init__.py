"""Frozen values that flow through the pipeline: output, usage, plan, changes, verification, requests."""

from typing import Any, TypeVar

from pydantic import BaseModel

__all__ = ["evolve"]

Model = TypeVar("Model", bound=BaseModel)


def evolve(model: Model, /, **changes: Any) -> Model:
    """Return a copy of a model with other values for some fields.

    Their names are checked, their values are not: as with `dataclasses.replace`, each must have its field's type.

    Raises:
        TypeError: the model has no field of such a name.
    """
    if unknown := changes.keys() - type(model).__pydantic_fields__.keys():
        raise TypeError(f"{type(model).__name__} has no field {', '.join(sorted(unknown))}")
    return model.model_copy(update=changes)
