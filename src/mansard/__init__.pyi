"""The types of the public names, for checkers and editors; `__init__.py` loads them on first use."""

from mansard.advice import advise as advise
from mansard.algebra import arithmetic_intensity as arithmetic_intensity
from mansard.algebra import attainable as attainable
from mansard.algebra import batch_to_saturate as batch_to_saturate
from mansard.algebra import bound as bound
from mansard.algebra import compute_time as compute_time
from mansard.algebra import matmul_intensity as matmul_intensity
from mansard.algebra import memory_time as memory_time
from mansard.algebra import request_times as request_times
from mansard.algebra import ridge_point as ridge_point
from mansard.analysis import analyze as analyze
from mansard.analysis import grid as grid
from mansard.analysis import saturate as saturate
from mansard.analysis import step as step
from mansard.answers import cite as _cite
from mansard.answers import explain as _explain
from mansard.answers import list as _list
from mansard.answers import request as _request
from mansard.answers import schema as _schema
from mansard.answers import show as _show
from mansard.answers._answer import Answer as Answer
from mansard.errors import InputError as InputError
from mansard.errors import MansardError as MansardError
from mansard.errors import UnavailableError as UnavailableError
from mansard.errors import UsageError as UsageError
from mansard.inputs.device import Device as Device
from mansard.inputs.device_file import device_names as device_names
from mansard.inputs.device_file import load_device as load_device
from mansard.inputs.model import ModelConfig as ModelConfig
from mansard.loading import load_model as load_model
from mansard.loading import model_names as model_names
from mansard.results import Analysis as Analysis
from mansard.single import operator as operator

__version__: str

explain = _explain.answer
request = _request.answer
list = _list.answer  # noqa: A001  # the verb's name
show = _show.answer
cite = _cite.answer
schema = _schema.answer
