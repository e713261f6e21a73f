# The command line: docker build -t anonhist . && docker run --rm -v "$PWD:/data" anonhist release events.csv --label query --epsilon 1
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/source[ibis,ledger,remote,service]"

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "anonhist[ibis,ledger,remote,service]" \
    && useradd --create-home --uid 1000 anonhist
USER anonhist
# The root may be read-only, as in packaging/server/compose.yaml.
ENV PYTHONDONTWRITEBYTECODE=1
# What a command names and writes is in the folder that is mounted here.
WORKDIR /data
ENTRYPOINT ["anonhist"]
