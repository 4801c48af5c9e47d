/**
 * A run in the live view, captured from a terminal. The agents are real, and a scripted model answers
 * them. It holds answers back until the screen is captured.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BIN } from '../../test/built.ts';
import { claudeOnPath } from '../../test/docs/claude-on-path.ts';
import type { ModelRequest } from '../../test/real-agent/model-request.ts';
import { conversationLines } from '../../test/real-agent/raymond-sandbox.ts';
import type { Answer } from '../../test/real-agent/scripted-model.ts';
import { withFixedTimes } from './fixed-times.ts';
import { screenSvg } from './screen-svg.ts';
import { tmuxScreen } from './tmux-screen.ts';

const COLUMNS = 104;
const ROWS = 20;
const OPTIONS = 'fixes --workflow-id fixes --budget 5';
const QUESTION = 'UTC or local time?';

export async function liveViewPicture(): Promise<string> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'r-')));
  const folder = join(base, 'shop');
  writeProject(folder);
  const [isOneEnded, isCaptured] = [signal(), signal()];
  const claude = await claudeOnPath((request) => {
    const { hold, ...answer } = answerOf(request, folder);
    return hold ? { ...answer, after: { isOneEnded, isCaptured }[hold].given } : answer;
  });
  const screen = tmuxScreen({
    command: `'${process.execPath}' '${BIN}' ${OPTIONS}`,
    folder,
    environment: {
      ...claude.environment,
      PATH: `${claude.environment.PATH}:${dirname(process.execPath)}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
    },
    columns: COLUMNS,
    rows: ROWS,
  });
  try {
    await screen.whenShown('1 ended', 'Read ', 'src/search.ts', 'src/export.ts');
    isOneEnded.give();
    const captured = await screen.whenShown(`| ${QUESTION}`, '2 running', '1 asks you');
    return screenSvg({
      captured: withFixedTimes(captured, { folder, shown: '/home/you/shop' }),
      columns: COLUMNS,
      title: `raymond ${OPTIONS}`,
      description: 'The live view: the steps that ended, a line for each agent, and a question.',
    });
  } finally {
    isCaptured.give();
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
Repair {{item}}.
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

/** `hold`: when the model gives the answer. */
type HeldAnswer = Answer & { readonly hold?: 'isOneEnded' | 'isCaptured' };

/** One child has ended, one asks, and two have read a file and continue. */
function answerOf(request: ModelRequest, folder: string): HeldAnswer {
  const lines = conversationLines(request);
  const prompt = lines.findLast((line) => /^user: (Read TODO|Repair)/.test(line)) ?? '';
  const item = /Repair (\w+)/.exec(prompt)?.[1] ?? 'all';
  const usage = { input_tokens: 20_000 + 5_000 * item.length, output_tokens: 1_000 };
  switch (item) {
    case 'all':
      return { content: FORKS, usage };
    case 'login':
      return { content: '<result>Empty passwords are refused.</result>', usage };
    case 'clock':
      return { content: `<ask next="FIX">${QUESTION}</ask>`, usage, hold: 'isOneEnded' };
    default:
      if (lines.at(-1) !== prompt)
        return { content: '<result>done</result>', usage, hold: 'isCaptured' };
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
