# podsim alone: docker build --tag podsim . && docker run --rm podsim predict bert --pod 512
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .
FROM python:3.13-slim
RUN --mount=from=build,source=/wheels,target=/wheels pip install --no-cache-dir /wheels/*.whl
RUN useradd --create-home podsim
USER podsim
WORKDIR /data
ENTRYPOINT ["podsim"]
