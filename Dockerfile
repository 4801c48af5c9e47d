# Raymond with everything that its steps need. See docs/guide/servers.md.
#
#   docker build --tag raymond .
#   docker build --tag raymond --build-arg AGENTS=@anthropic-ai/claude-code .

ARG NODE=24

# The published package, as `npm pack` makes it.
FROM node:${NODE}-bookworm-slim AS pack
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN mkdir /packed && npm pack --pack-destination /packed

# The package with the packages that it needs, in the versions and with the checksums of the lockfile.
FROM node:${NODE}-bookworm-slim AS install
WORKDIR /opt/raymond
COPY --from=pack /packed/ /packed/
RUN tar --extract --gzip --strip-components=1 --file /packed/*.tgz
COPY package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:${NODE}-bookworm-slim AS raymond
# git is for worktrees and snapshots of files, bubblewrap, socat and ripgrep are for rights.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git ripgrep socat tini \
  && rm -rf /var/lib/apt/lists/*
# Agents, as packages of npm. Without one, only scripts run.
ARG AGENTS=""
RUN if [ -n "$AGENTS" ]; then npm install --global $AGENTS && npm cache clean --force; fi
COPY --from=install /opt/raymond /opt/raymond
# A volume begins with the owner and the mode that its folder has here.
RUN ln -s /opt/raymond/bin/raymond.js /usr/local/bin/raymond \
  && install -d -o node -g node -m 755 /work /home/node/.config /home/node/.local \
  && install -d -o node -g node -m 700 /home/node/.local/state \
    /home/node/.local/state/raymond /home/node/.local/state/raymond/workers
# Also for a user that only --user names.
ENV HOME=/home/node
USER node
WORKDIR /work
# The project, and what belongs to the user: the key of the runs, and the configuration.
VOLUME ["/work", "/home/node/.local/state", "/home/node/.config"]
# The first process has to remove the processes that others leave behind. Raymond does not.
ENTRYPOINT ["tini", "--"]
CMD ["raymond", "--help"]
