"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used.

Besides the executors, this exports the parts that an executor of your own is made of: the turn and its transcript, the
base classes for agents, the permission policy, the confinement, programs that leave nothing behind, and the masking of
secrets.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.executors.agent import NO_KEY as NO_KEY
    from ralph.executors.agent import AgentExecutor as AgentExecutor
    from ralph.executors.agent import AgentOptions as AgentOptions
    from ralph.executors.agent import Ending as Ending
    from ralph.executors.agent import Listener as Listener
    from ralph.executors.agent import ProgramExecutor as ProgramExecutor
    from ralph.executors.base import BOUNDS as BOUNDS
    from ralph.executors.base import Bound as Bound
    from ralph.executors.base import Executor as Executor
    from ralph.executors.base import Quantity as Quantity
    from ralph.executors.base import Transcript as Transcript
    from ralph.executors.base import Turn as Turn
    from ralph.executors.base import watchdog as watchdog
    from ralph.executors.base import within_time as within_time
    from ralph.executors.copilot.cli import CopilotCLIExecutor as CopilotCLIExecutor
    from ralph.executors.copilot.provision import present_cli as present_cli
    from ralph.executors.copilot.provision import provide_cli as provide_cli
    from ralph.executors.copilot.sdk import CopilotSDKExecutor as CopilotSDKExecutor
    from ralph.executors.failures import WORDINGS as WORDINGS
    from ralph.executors.failures import Wordings as Wordings
    from ralph.executors.failures import classify_failure as classify_failure
    from ralph.executors.failures import describe_exit as describe_exit
    from ralph.executors.failures import kind_of_status as kind_of_status
    from ralph.executors.failures import status_in as status_in
    from ralph.executors.failures import wait_in as wait_in
    from ralph.executors.fallback import FallbackExecutor as FallbackExecutor
    from ralph.executors.fallback import PrimaryBreaker as PrimaryBreaker
    from ralph.executors.npm import NpmPackage as NpmPackage
    from ralph.executors.npm import NpmProgram as NpmProgram
    from ralph.executors.npm import Progress as Progress
    from ralph.executors.permissions import CREDENTIALS as CREDENTIALS
    from ralph.executors.permissions import DENIED_COMMANDS as DENIED_COMMANDS
    from ralph.executors.permissions import Allowed as Allowed
    from ralph.executors.permissions import Denied as Denied
    from ralph.executors.permissions import PermissionPolicy as PermissionPolicy
    from ralph.executors.permissions import PermissionRequest as PermissionRequest
    from ralph.executors.program_output import Event as Event
    from ralph.executors.program_output import JsonLines as JsonLines
    from ralph.executors.program_output import Line as Line
    from ralph.executors.program_output import Oversized as Oversized
    from ralph.executors.program_output import Unreadable as Unreadable
    from ralph.system.files import find_program as find_program
    from ralph.system.process import ByteStream as ByteStream
    from ralph.system.process import ProgramMissingError as ProgramMissingError
    from ralph.system.process import Running as Running
    from ralph.system.process import spawn as spawn
    from ralph.system.sandbox import Confinement as Confinement
    from ralph.system.secrets import Redactor as Redactor
    from ralph.types.output import Timeouts as Timeouts

__getattr__, __dir__ = lazy_exports(__name__)
