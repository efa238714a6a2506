"""What a request becomes for a model: sequences for its encoders, and what they give to its decoder."""

from mansard.errors import Fault, InputError, UsageError
from mansard.inputs.encoder import Encoder
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note
from mansard.inputs.perception import Asked, Reading
from mansard.inputs.scenario import DEFAULT_PROMPT, Media, Workload

_SIDE = 1024  # of an image whose size decides and was not given
_SECONDS = 30.0
_MEDIA = ("images", "resolution", "frames", "seconds")


def encode_phase(model: ModelConfig, encoder: Encoder) -> str:
    """What the phase of an encoder is called: "encode", or "encode_image" where there are several."""
    if len(model.encoders) == 1:
        return "encode"
    alike = [other for other in model.encoders if other.modality == encoder.modality]
    return f"encode_{encoder.modality if len(alike) == 1 else encoder.name}"


def filled(model: ModelConfig, asked: Workload, defaults: tuple[str, ...]) -> tuple[Workload, tuple[Note, ...]]:
    """The workload with the sizes that the model's encoders need, and a note for each that was taken for granted.

    A model with a decoder reads no image and no sound unless asked to; one without must read something. One whose class
    embeds or classifies makes no tokens unless asked to.

    Raises:
        UsageError: naming every word that no part of the model reads, or if nothing is left for it to read.
    """
    media = asked.media
    if not model.generates and model.has_decoder and "output" in defaults:
        asked = asked._replace(output=1)
    if not model.encoders and media == Media():
        return asked, ()
    words = {word for encoder in model.encoders for word in encoder.reads.words}
    _refuse(model, media, words)
    notes: list[str] = []
    needed = not model.has_decoder or model.start_tokens > 0 or model.has_cross_attention
    if "images" in words:
        media = _images(media, words, notes, needed=needed)
    if "seconds" in words and media.seconds is None and needed:
        media = media._replace(seconds=_SECONDS)
        notes.append(f"seconds was not given: {_SECONDS:g} are taken")
    if "prompt" in words and "prompt" in defaults:
        most = model.max_position_embeddings or DEFAULT_PROMPT
        asked = asked._replace(prompt=min(asked.prompt, most))
    asked = asked._replace(media=media)
    if not model.has_decoder and not any(reading.sequences for reading in readings(model, asked)):
        problem = f"must be at least 1: {model.name} reads nothing else"
        fault = Fault(problem=problem, key="images", value=media.images)
        raise UsageError(str(InputError([fault])), faults=[fault])
    found = tuple(Note(level="info", code="default-workload", text=text) for text in notes)
    return asked, (*found, *_unread(model, media, words))


def readings(model: ModelConfig, asked: Workload) -> tuple[Reading, ...]:
    """What each of the model's encoders reads of one request, in their order."""
    if not model.encoders:
        return ()
    media = asked.media
    given = Asked(
        prompt=asked.prompt,
        images=media.images or 0,
        height=media.height or 0,
        width=media.width or 0,
        frames=media.frames or 1,
        seconds=media.seconds or 0.0,
    )
    return tuple(encoder.reads.reading(given) for encoder in model.encoders)


def taken(model: ModelConfig, asked: Workload) -> Workload:
    """The workload as the decoder has it: with tokens that encoders add to the prompt, or that its steps attend to."""
    if not model.encoders:
        return asked
    given = sum(reading.given for reading in readings(model, asked))
    if model.has_cross_attention:
        return asked._replace(source=given, start=model.start_tokens)
    return asked._replace(given=given)


def _images(media: Media, words: set[str], notes: list[str], *, needed: bool) -> Media:
    if media.images is None and (needed or media.height is not None or media.frames is not None):
        media = media._replace(images=1)
        notes.append("images was not given: 1 is taken")
    if media.images and media.height is None and "resolution" in words:
        media = media._replace(height=_SIDE, width=_SIDE)
        notes.append(f"resolution was not given: {_SIDE}x{_SIDE} is taken")
    return media


def _refuse(model: ModelConfig, media: Media, words: set[str]) -> None:
    frames = None if media.frames == 1 else media.frames
    given = {"images": media.images, "resolution": media.height, "frames": frames, "seconds": media.seconds}
    # A fixed size of images is a fact about the model: their own is allowed, and changes nothing.
    known = words | {"resolution", "frames"} if "images" in words else words
    faults = [
        Fault(problem=f"is not read: {model.name} has no encoder for it", key=word, value=given[word])
        for word in _MEDIA
        if given[word] and word not in known
    ]
    if faults:
        raise UsageError(str(InputError(faults)), faults=faults)


def _unread(model: ModelConfig, media: Media, words: set[str]) -> tuple[Note, ...]:
    if media.height is not None and "resolution" not in words:
        text = f"resolution changes nothing: {model.name} scales every image to one size"
        return (Note(level="info", code="unused-word", text=text),)
    if model.has_decoder and not media.images and media.seconds is None and not model.start_tokens:
        asks = " or ".join(f"--{word}" for word in ("images", "seconds") if word in words)
        if asks:
            text = f"no image and no sound is counted, only text: {asks} asks for them"
            return (Note(level="info", code="no-media", text=text),)
    return ()
