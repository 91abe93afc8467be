"""ResNet-50 v1.5 as an ONNX graph, as exporters write it: weights as initializers, batch norms apart, batch named."""

from __future__ import annotations

from typing import Any

from onnx import helper

from tests.files.onnx_models import model, value, weight

BLOCKS = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))  # width, blocks, stride of the first (he-2015)


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def conv(self, source: str, inside: int, outside: int, kernel: int, stride: int, *, relu: bool) -> str:
        name = f"conv{len(self.nodes)}"
        pad = kernel // 2
        self.weights += [weight(f"{name}.w", outside, inside, kernel, kernel)]
        self.weights += [weight(f"{name}.{each}", outside) for each in ("scale", "offset", "mean", "var")]
        self.nodes += [
            helper.make_node(
                "Conv",
                [source, f"{name}.w"],
                [name],
                name=name,
                kernel_shape=[kernel, kernel],
                strides=[stride, stride],
                pads=[pad] * 4,
            ),
            helper.make_node(
                "BatchNormalization",
                [name, *(f"{name}.{each}" for each in ("scale", "offset", "mean", "var"))],
                [f"{name}.norm"],
                name=f"{name}.norm",
            ),
        ]
        return self._relu(f"{name}.norm") if relu else f"{name}.norm"

    def _relu(self, source: str) -> str:
        self.nodes.append(helper.make_node("Relu", [source], [f"{source}.relu"], name=f"{source}.relu"))
        return f"{source}.relu"

    def block(self, source: str, inside: int, width: int, stride: int) -> str:
        first = self.conv(source, inside, width, 1, 1, relu=True)
        second = self.conv(first, width, width, 3, stride, relu=True)
        last = self.conv(second, width, 4 * width, 1, 1, relu=False)
        other = source if inside == 4 * width else self.conv(source, inside, 4 * width, 1, stride, relu=False)
        total = f"sum{len(self.nodes)}"
        self.nodes.append(helper.make_node("Add", [last, other], [total], name=total))
        return self._relu(total)


def resnet50() -> Any:
    """The whole network on images of 224 x 224."""
    graph = _Graph()
    here, inside = graph.conv("image", 3, 64, 7, 2, relu=True), 64
    graph.nodes.append(
        helper.make_node("MaxPool", [here], ["pool"], name="pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    )
    here = "pool"
    for width, blocks, stride in BLOCKS:
        for at in range(blocks):
            here, inside = graph.block(here, inside, width, stride if at == 0 else 1), 4 * width
    graph.nodes += [
        helper.make_node("GlobalAveragePool", [here], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flat"),
        helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], ["scores"], name="classifier", transB=1),
    ]
    graph.weights += [weight("fc.w", 1000, 2048), weight("fc.b", 1000)]
    return model(
        graph.nodes, [value("image", ["batch", 3, 224, 224])], [value("scores", ["batch", 1000])], graph.weights
    )
