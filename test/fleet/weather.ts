/** Bad weather between workers and their database, around their clocks and on their disks. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../crash/random.ts';
import { type Network, startProxy } from '../postgres/proxy.ts';

const KINDS = ['distance', 'stall', 'one-way', 'cut', 'clock', 'disk'] as const;
type Kind = (typeof KINDS)[number];
/** `mixed` plays the kinds in turn. */
export const WEATHERS = [...KINDS, 'mixed'] as const;
export type Weather = (typeof WEATHERS)[number];

export interface Sky {
  /** What the environment of a worker needs to stand under this sky. Its folder is at `state`. */
  over(worker: string, state: string): Promise<Record<string, string>>;
  /** Disturbs a worker for a while. */
  blow(worker: string): Promise<void>;
  close(): Promise<void>;
}

export interface SkyParts {
  readonly url: string;
  readonly leaseS: number;
  readonly random: Random;
  readonly folder: string;
  readonly latencyMs?: number | undefined;
}

/** Undefined if the machine lacks what it needs: faketime, or the right to mount a file system. */
export function skyOf(weather: Weather, parts: SkyParts): Sky | undefined {
  if (weather === 'mixed') return mixed(parts);
  if (weather === 'clock') return FAKETIME ? clocks(FAKETIME, parts) : undefined;
  if (weather === 'disk') return process.getuid?.() === 0 ? disks(parts) : undefined;
  return networks(() => weather, parts);
}

type NetworkKind = Exclude<Kind, 'clock' | 'disk'>;

/** The kinds that this machine can play, each in its turn. */
function mixed(parts: SkyParts): Sky {
  let turn = 0;
  const ofNetwork: readonly NetworkKind[] = ['one-way', 'distance', 'cut', 'stall'];
  const network = networks(() => ofNetwork[turn % ofNetwork.length] ?? 'cut', parts);
  const others = (['clock', 'disk'] as const).flatMap((kind) => skyOf(kind, parts) ?? []);
  const skies = [network, ...others];
  return {
    async over(worker, state) {
      const environments = skies.map((sky) => sky.over(worker, state));
      return Object.assign({}, ...(await Promise.all(environments)));
    },
    // The others of this turn disturb at the same time.
    async blow(worker) {
      const other = others[turn % 2];
      await Promise.all([network.blow(worker), other?.blow(worker)]);
      turn++;
    },
    async close() {
      for (const sky of skies) await sky.close();
    },
  };
}

/** Each worker has its own network. */
function networks(kind: () => NetworkKind, { url, leaseS, random, latencyMs }: SkyParts): Sky {
  const all = new Map<string, Network>();
  return {
    async over(worker) {
      const network = all.get(worker) ?? (await startProxy(url, latencyMs));
      all.set(worker, network);
      return { RAYMOND_DATABASE: network.url };
    },
    async blow(worker) {
      const network = all.get(worker);
      switch (kind()) {
        case 'distance':
          if (latencyMs !== undefined) return;
          network?.slow(50 + random() * 1500);
          await delay(1000 + random() * 3000);
          return network?.calm();
        case 'stall':
          network?.stall();
          await delay(1000 * leaseS * (0.1 + random() * 1.4));
          return network?.calm();
        case 'one-way':
          return network?.drop(random() < 0.5 ? 'requests' : 'answers');
        case 'cut':
          return network?.cutAfter(Math.floor(random() * 3000));
      }
    },
    async close() {
      for (const network of all.values()) await network.close();
    },
  };
}

/** The clock of each worker jumps by up to two hours. That of its steps does, too. */
function clocks(library: string, { random, folder }: SkyParts): Sky {
  const fileOf = (worker: string) => join(folder, '..', `clock of ${worker}`);
  const set = (worker: string) => {
    const seconds = Math.round((random() - 0.5) * 4 * 3600);
    writeFileSync(fileOf(worker), `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  };
  return {
    async over(worker) {
      set(worker);
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: fileOf(worker),
        FAKETIME_NO_CACHE: '1',
        // The time since the start of a machine does not jump.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
    },
    async blow(worker) {
      set(worker);
    },
    close: async () => {},
  };
}

const FAKETIME = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib']
  .map((folder) => join(folder, 'faketime', 'libfaketime.so.1'))
  .find((file) => existsSync(file));

/** The folder of each worker is a small file system, which is full at times. */
function disks({ random }: SkyParts): Sky {
  const folders = new Map<string, string>();
  return {
    async over(worker, state) {
      if (folders.has(worker)) return {};
      mkdirSync(state, { recursive: true, mode: 0o700 });
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', state]);
      folders.set(worker, state);
      return {};
    },
    async blow(worker) {
      const state = folders.get(worker);
      if (state === undefined) return;
      const ballast = join(state, 'ballast');
      // Small pieces, so that nothing is left.
      for (const size of [1024 * 1024, 4096]) fill(ballast, size);
      await delay(500 + random() * 2500);
      rmSync(ballast, { recursive: true, force: true });
    },
    async close() {
      for (const state of folders.values()) execFileSync('umount', ['--lazy', state]);
    },
  };
}

function fill(folder: string, bytes: number): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (let number = readdirSync(folder).length; ; number++)
      writeFileSync(join(folder, String(number)), Buffer.alloc(bytes));
  } catch {
    // It is full.
  }
}
