"""Ops of TensorFlow's public functions that the device does not do, and why; they run on the host, which the run log says."""

from __future__ import annotations

COMPLEX = "complex numbers, which the device does not have"
QUANTIZED = "quantised types, which no training graph of TensorFlow 1 uses on this device"
DRAWS = "draws by rejection, whose number of Philox blocks depends on the values drawn: not reproduced bit by bit"
SIGNS = "signs and order of the vectors are LAPACK's choice, another library's differ"
SERIES = "a derivative by TensorFlow's own series: no other source gives the same digits"
SAMPLER = "samples by a random stream of its own on TensorFlow's CPU"
HASHES = "hashes text"
RAGGED = "ragged tensors, which graphs of TensorFlow 1 hardly hold"

_BY_REASON = {
    COMPLEX: """
        Complex ComplexAbs Conj Imag Real Angle FFT IFFT RFFT IRFFT FFT2D IFFT2D
    """,
    QUANTIZED: """
        QuantizeV2 Dequantize QuantizedAvgPool QuantizedConv2D QuantizedMaxPool QuantizedReluX
        QuantizeAndDequantizeV4 QuantizeAndDequantizeV4Grad
    """,
    DRAWS: """
        RandomGamma RandomPoissonV2 StatelessRandomGammaV3 StatelessRandomPoisson StatelessRandomBinomial
        StatelessParameterizedTruncatedNormal ParameterizedTruncatedNormal
    """,
    SIGNS: """
        Svd SelfAdjointEigV2 Lu MatrixSquareRoot
    """,
    SERIES: """
        IgammaGradA RandomGammaGrad
    """,
    SAMPLER: """
        AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler
        SampleDistortedBoundingBoxV2 FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool
        FractionalMaxPoolGrad
    """,
    HASHES: """
        SparseCross SparseCrossV2 SparseCrossHashed
    """,
    RAGGED: """
        RaggedGather RaggedRange RaggedTensorToSparse RaggedTensorToTensor
    """,
}
LIMITATIONS: dict[str, str] = {
    **{op: reason for reason, ops in _BY_REASON.items() for op in ops.split()},
    "ApproxTopK": "an approximate search that TensorFlow has for TPUs",
    "CTCBeamSearchDecoder": "a search that keeps a tree of strings",
    "DenseCountSparseOutput": "counts of sparse outputs, a step of preprocessing",
    "EditDistance": "a metric over sequences, one table each",
    "DrawBoundingBoxes": "draws into images for summaries",
    "SdcaShrinkL1": "the dual coordinate optimizer works on the host",
    "SobolSample": "a table of direction numbers inside TensorFlow",
    "ExtractGlimpse": "glimpses with noise at the edges from a random stream",
}
"""Reason by op that has no kernel: a phrase without the op's name."""
