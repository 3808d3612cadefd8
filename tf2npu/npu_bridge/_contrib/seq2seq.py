"""``tf.contrib.seq2seq``: decoders, their helpers, attention and beam search."""

from npu_bridge._contrib._seq2seq_attention import (
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
from npu_bridge._contrib._seq2seq_beams import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    gather_tree,
    tile_batch,
)
from npu_bridge._contrib._seq2seq_decoders import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode, sequence_loss
from npu_bridge._contrib._seq2seq_helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from npu_bridge._contrib._seq2seq_wrapper import AttentionWrapper, AttentionWrapperState

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention", "BahdanauMonotonicAttention",
    "BasicDecoder", "BasicDecoderOutput", "BeamSearchDecoder", "BeamSearchDecoderOutput", "BeamSearchDecoderState",
    "CustomHelper", "Decoder", "FinalBeamSearchDecoderOutput", "GreedyEmbeddingHelper", "Helper", "InferenceHelper",
    "LuongAttention", "LuongMonotonicAttention", "SampleEmbeddingHelper", "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper", "TrainingHelper", "dynamic_decode", "gather_tree", "hardmax", "monotonic_attention",
    "safe_cumprod", "sequence_loss", "tile_batch",
]  # fmt: skip
