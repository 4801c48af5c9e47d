import type { ProcessIdentity } from './identity.ts';
import { Launcher, type LauncherParts, type Place } from './launcher.ts';
import type { Environment } from './shell-environment.ts';

/** For a run with few parallel scripts, and for each launcher that it needs beside the first. */
const FEW_WITNESSES = 16;
const MANY_WITNESSES = 64;

interface LaunchersParts {
  /** All launchers of a run have these parts in common. */
  readonly common: () => Pick<LauncherParts, 'root' | 'mark' | 'spareFolder' | 'seals'>;
  /** A launcher has been started. `over` resolves when its shell has ended. */
  readonly started: (identity: ProcessIdentity, over: Promise<void>) => void;
}

/** The launchers of a run. Most runs need one. */
export class Launchers {
  readonly #parts: LaunchersParts;
  /** Those that are usable, and those whose commands still run. */
  readonly #all = new Set<Launcher>();

  constructor(parts: LaunchersParts) {
    this.#parts = parts;
  }

  /** A place for a command with this environment. Throws when no launcher can be started. */
  reserve(env: Environment): Place {
    return this.#usable(env).reserve();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((launcher) => launcher.close()));
  }

  /** See `RunProcesses.leave`. */
  leave(): void {
    for (const launcher of this.#all) launcher.leave();
  }

  #usable(env: Environment): Launcher {
    for (const launcher of this.#all) {
      if (launcher.isUsable) return launcher;
      if (launcher.isNeeded) continue;
      this.#all.delete(launcher);
      void launcher.close();
    }
    const witnesses = this.#all.size === 0 ? FEW_WITNESSES : MANY_WITNESSES;
    const launcher = new Launcher({ ...this.#parts.common(), env, witnesses });
    this.#parts.started(launcher.identity, launcher.over);
    this.#all.add(launcher);
    return launcher;
  }
}
