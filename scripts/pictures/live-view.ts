/**
 * A run at a terminal, captured. The agents are real, and a scripted model answers them. It holds answers
 * back until the screen is captured.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BIN } from '../../test/built.ts';
import { claudeOnPath } from '../../test/docs/claude-on-path.ts';
import type { ModelRequest } from '../../test/real-agent/model-request.ts';
import { conversationLines } from '../../test/real-agent/raymond-sandbox.ts';
import type { Answer } from '../../test/real-agent/scripted-model.ts';
import { type ShownTimes, withFixedTimes } from './fixed-times.ts';
import { screenSvg } from './screen-svg.ts';
import { tmuxScreen } from './tmux-screen.ts';

const COLUMNS = 104;
const ROWS = 24;
const OPTIONS = 'fixes --workflow-id fixes --budget 5';
const QUESTION = 'UTC or local time?';

/** A moment of the run, as it is on the screen. */
interface Moment {
  readonly captured: string;
  /** How long the moving picture shows it. */
  readonly seconds: number;
}

/** The moments in their order: how long each is shown, and the times that it shows. */
const MOMENTS = {
  typed: { seconds: 1.5 },
  started: { seconds: 2, times: ['10:15:02'], clocks: ['0:12', '0:12'] },
  forked: { seconds: 2.5, clocks: ['0:05', '0:05', '0:05', '0:05', '0:05', '0:46'] },
  'one ended': { seconds: 3, clocks: ['1:38', '1:38', '1:38', '1:38', '2:19'] },
  asks: { seconds: 3.5 },
  killed: { seconds: 2.5 },
  'resume typed': { seconds: 1.5 },
  resumed: {
    seconds: 3,
    times: ['10:18:30'],
    clocks: ['2:49', '2:43', '2:43', '0:44', '3:30'],
  },
  answers: {
    seconds: 2,
    times: ['10:18:30'],
    clocks: ['2:58', '2:52', '2:52', '0:53', '3:39'],
  },
  ended: {
    seconds: 5,
    times: [
      ...['10:18:30', '10:18:44', '10:19:20', '10:19:41', '10:20:02', '10:20:02', '10:20:03'],
      '10:20:03',
    ],
    durations: ['36.1 s', '3 min 58 s', '4 min 19 s', '0.1 s', '5 min 1 s'],
  },
} as const satisfies Readonly<Record<string, ShownTimes & { readonly seconds: number }>>;
type MomentName = keyof typeof MOMENTS;

let recorded: Promise<ReadonlyMap<MomentName, Moment>> | undefined;

/** A picture that moves: the run is started, killed when it asks, resumed, answered, and it ends. */
export async function movingPicture(): Promise<string> {
  recorded ??= record();
  const moments = await recorded;
  return screenSvg({
    screens: [...moments.values()],
    still: [...moments.keys()].indexOf('asks'),
    columns: COLUMNS,
    title: 'raymond',
    description:
      'A run starts four agents. One ends, and one asks. Raymond is killed, resumed and answered, and the run ends.',
  });
}

/** The moment at which an agent asks. */
export async function liveViewPicture(): Promise<string> {
  recorded ??= record();
  const asks = (await recorded).get('asks');
  if (!asks) throw new Error('An agent asks.');
  return screenSvg({
    screens: [asks],
    columns: COLUMNS,
    title: 'raymond',
    description: 'The live view: the steps that ended, a line for each agent, and a question.',
  });
}

async function record(): Promise<ReadonlyMap<MomentName, Moment>> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'r-')));
  const folder = join(base, 'shop');
  writeProject(folder);
  mkdirSync(join(base, 'bin'));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`;
  writeFileSync(join(base, 'bin/raymond'), command, { mode: 0o755 });
  const when: Record<Hold, ReturnType<typeof signal>> = {
    isStarted: signal(),
    isShared: signal(),
    isOneEnded: signal(),
    isAnswered: signal(),
    isSearched: signal(),
  };
  const claude = await claudeOnPath((request) => {
    const { hold, ...answer } = answerOf(request, folder);
    return hold ? { ...answer, after: when[hold].given } : answer;
  });
  const screen = tmuxScreen({
    command: `PS1='$ ' HISTFILE= exec bash --noprofile --norc`,
    folder,
    environment: {
      ...claude.environment,
      PATH: `${base}/bin:${claude.environment.PATH}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
    },
    columns: COLUMNS,
    rows: ROWS,
  });
  const moments = new Map<MomentName, Moment>();
  const see = async (name: MomentName, ...texts: readonly string[]) => {
    const { seconds, ...times } = MOMENTS[name];
    const screenshot = await screen.whenShown(...texts);
    const captured = withFixedTimes(screenshot, { folder, shown: '/home/you/shop', ...times });
    moments.set(name, { captured, seconds });
  };
  try {
    await screen.whenShown('$');
    screen.type(`raymond ${OPTIONS}`);
    await see('typed', `$ raymond ${OPTIONS}`);
    screen.type('Enter');
    await see('started', 'at START.md', '1 running');
    when.isStarted.give();
    await see('forked', '4 running');
    when.isShared.give();
    await see('one ended', '1 ended', 'Read ', 'src/search.ts', 'src/export.ts');
    when.isOneEnded.give();
    await see('asks', `| ${QUESTION}`, '2 running', '1 asks you');
    screen.kill();
    await see('killed', '> Killed\n$');
    screen.type('clear', 'Enter');
    await screen.whenGone('Killed');
    screen.type('raymond resume fixes');
    await see('resume typed', '$ raymond resume fixes');
    screen.type('Enter');
    await see('resumed', 'continues', `| ${QUESTION}`, '2 running', '1 asks you');
    screen.type('UTC');
    await see('answers', '> UTC');
    screen.type('Enter');
    await screen.whenShown('The clock shows UTC.');
    when.isAnswered.give();
    await screen.whenShown('The search is repaired.');
    when.isSearched.give();
    await see('ended', '| merged\n$');
    return moments;
  } finally {
    for (const { give } of Object.values(when)) give();
    screen.close();
    await claude.remove();
    rmSync(base, { recursive: true, force: true, maxRetries: 10 });
  }
}

function writeProject(folder: string): void {
  const files = {
    '.git/HEAD': '',
    'fixes/START.md': `---
allowed_transitions: [{ tag: fork, target: FIX }, { tag: join, target: MERGE }]
---
Read TODO.md. Start an agent for each item.
`,
    'fixes/FIX.md': `---
allowed_transitions: [{ tag: ask, next: FIX }, { tag: result }]
---
Repair {{item}}. {{result}}
`,
    'fixes/MERGE.sh': "echo '<result>merged</result>'\n",
    'src/search.ts': 'export {};\n',
    'src/export.ts': 'export {};\n',
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, file), text, { mode: 0o644 });
  }
}

type Hold = 'isStarted' | 'isShared' | 'isOneEnded' | 'isAnswered' | 'isSearched';

/** `hold`: when the model gives the answer. */
type HeldAnswer = Answer & { readonly hold?: Hold };

/** One child has ended, one asks, and two have read a file and continue. */
function answerOf(request: ModelRequest, folder: string): HeldAnswer {
  const lines = conversationLines(request);
  const prompt = lines.findLast((line) => /^user: (Read TODO|Repair)/.test(line)) ?? '';
  const item = /Repair (\w+)/.exec(prompt)?.[1] ?? 'all';
  const usage = { input_tokens: 20_000 + 5_000 * item.length, output_tokens: 1_000 };
  switch (item) {
    case 'all':
      return { content: FORKS, usage, hold: 'isStarted' };
    case 'login':
      return { content: '<result>Empty passwords are refused.</result>', usage, hold: 'isShared' };
    case 'clock':
      if (prompt.endsWith('UTC'))
        return { content: '<result>The clock shows UTC.</result>', usage };
      return { content: `<ask next="FIX">${QUESTION}</ask>`, usage, hold: 'isOneEnded' };
    default:
      if (lines.at(-1) !== prompt)
        return {
          content: `<result>The ${item} is repaired.</result>`,
          usage,
          hold: item === 'search' ? 'isAnswered' : 'isSearched',
        };
      return {
        content: [
          { type: 'tool_use', name: 'Read', input: { file_path: join(folder, `src/${item}.ts`) } },
        ],
        usage,
      };
  }
}

const FORKS = `${['login', 'search', 'export', 'clock']
  .map((item) => `<fork item="${item}">FIX</fork>`)
  .join('')}<join>MERGE</join>`;

function signal(): { readonly given: Promise<void>; give(): void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
