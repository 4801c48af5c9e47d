/** The timeline of a finished run, as `raymond show --timeline --svg` draws it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { throwawayChain } from '../../src/journal/chain.ts';
import { encodeEvents } from '../../src/journal/journal-format.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { BIN } from '../../test/built.ts';
import { makeRun } from '../../test/make-run.ts';

const RUN = 'fixes';
const BEGIN = Date.UTC(2026, 0, 15, 10, 15, 2);

export async function timelinePicture(): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-timeline-')));
  try {
    for (const made of ['.git', '.raymond/state']) {
      mkdirSync(join(folder, made), { recursive: true, mode: 0o700 });
    }
    const journal = join(folder, '.raymond/state', `${RUN}.jsonl`);
    writeFileSync(journal, encodeEvents(finishedRun(), 1, throwawayChain()), { mode: 0o600 });
    const args = [BIN, 'show', RUN, '--timeline', '--svg'];
    const env = { HOME: folder, PATH: '/usr/bin:/bin', TZ: 'UTC', LANG: 'C.UTF-8' };
    return execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The run of the live view, some minutes later. */
function finishedRun(): readonly RunEvent[] {
  const stage = makeRun({ START: [], FIX: [], 'MERGE.sh': [] });
  const first = stage.now;
  const at = (seconds: number) => {
    stage.now = first + seconds * 1000;
    return stage;
  };
  const items = ['login', 'search', 'export', 'clock'];
  const forks = items.map((item) => `<fork item="${item}">FIX</fork>`).join('');
  at(0).start();
  at(41).end(`${forks}<join>MERGE</join>`, 'main', 0.16);
  for (const n of [1, 2, 3, 4]) at(41).start(`main_fix${n}`);
  at(138).end('<result>Empty passwords are refused.</result>', 'main_fix1', 0.2);
  at(166).end('<ask next="FIX">UTC or local time?</ask>', 'main_fix4', 0.2);
  at(231).end('<result>The search finds umlauts.</result>', 'main_fix2', 0.31);
  at(250).handle({
    kind: 'person-answered',
    at: stage.now,
    agent: 'main_fix4',
    askedAt: first + 166_000,
    text: 'UTC',
  });
  at(250).start('main_fix4');
  at(301).end('<result>The clock shows UTC.</result>', 'main_fix4', 0.12);
  at(346).end('<result>The export has a header.</result>', 'main_fix3', 0.44);
  at(346).start();
  at(358).end('<result>merged</result>');
  at(358).idle();
  return stage.events.map((event) => ({
    ...event,
    at: event.at - first + BEGIN,
    ...(event.type === 'run-started' && { run: RUN }),
  }));
}
