# The two commands of README.md in a Debian that has nothing else:
#   docker build --target demo .    predicts, draws, and trains a small GPT
#   docker build --target test .    passes every test
FROM debian:12 AS sources
WORKDIR /debubble
COPY . .
RUN ./dev setup

FROM sources AS demo
RUN ./dev demo

FROM sources AS test
RUN ./dev test
