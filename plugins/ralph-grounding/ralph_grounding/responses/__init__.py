"""Sources of responses: a file, an OpenAI-compatible endpoint, or an agent."""

from ralph_grounding.responses.answers import ResponseFailure, ResponseSource, answers, read_responses
from ralph_grounding.responses.endpoint import EndpointSource
from ralph_grounding.responses.executor import ExecutorSource

__all__ = ["EndpointSource", "ExecutorSource", "ResponseFailure", "ResponseSource", "answers", "read_responses"]
