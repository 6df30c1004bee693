# An image with a pz built before: deno task build && docker build -t pz .
FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates libstdc++6 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --create-home pz \
  && mkdir /project \
  && chown pz:pz /project
COPY --chmod=0755 dist/pz /usr/local/bin/pz
USER 10001
WORKDIR /project
ENTRYPOINT ["/usr/local/bin/pz"]
