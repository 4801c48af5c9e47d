import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const executable = fileURLToPath(new URL('fake-claude.js', import.meta.url));

export interface FakeClaude {
  /** The environment that makes Raymond use it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: string;
  entries(kind: string): readonly Entry[];
  argvs(): readonly (readonly string[])[];
}

interface Entry {
  readonly kind: string;
  readonly pid?: number;
  readonly argv?: readonly string[];
  readonly length?: number;
  readonly hash?: string;
  readonly count?: number;
  /** The reply to a permission request. */
  readonly response?: Readonly<Record<string, unknown>>;
}

/** An executable that behaves as the play says; see fake-claude.js. */
export async function fakeClaude(
  play: string,
  more: {
    readonly turns?: number;
    readonly next?: string;
    readonly answer?: string;
    /** For the play "asks permission". */
    readonly requests?: readonly object[];
  } = {},
): Promise<FakeClaude> {
  const folder = await mkdtemp(join(tmpdir(), 'raymond-fake-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const log = join(folder, 'log');
  const entries = (kind: string) =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line): Entry => JSON.parse(line))
      .filter((entry) => entry.kind === kind);
  return {
    environment: {
      RAYMOND_CLAUDE: executable,
      FAKE_CLAUDE: play,
      FAKE_CLAUDE_LOG: log,
      ...(more.turns !== undefined && { FAKE_CLAUDE_TURNS: String(more.turns) }),
      ...(more.next !== undefined && { FAKE_CLAUDE_NEXT: more.next }),
      ...(more.answer !== undefined && { FAKE_CLAUDE_ANSWER: more.answer }),
      ...(more.requests && { FAKE_CLAUDE_REQUESTS: JSON.stringify(more.requests) }),
    },
    log,
    entries,
    argvs: () => entries('spawned').map(({ argv }) => argv ?? []),
  };
}
