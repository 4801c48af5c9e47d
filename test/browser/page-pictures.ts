/**
 * Pictures of the page of `raymond serve`: a live run of the real agent with a scripted model, a workflow
 * of 60 states, and a run with 200 agents. `npm run pictures:page` takes them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SIXTY_STATES } from '../drawings/ten-workflows.ts';
import { writeBusyRun } from '../kept-runs.ts';
import { BIN, Project } from '../raymond.ts';
import { type RaymondSandbox, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import type { Block, Reply } from '../real-agent/scripted-model.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { OPERATOR_FLOWS, operatorReply, startOperatorRuns } from './operator-project.ts';
import { DESKTOP, goTo, openPage, PHONE, startServe } from './served-page.ts';

export interface PagePicture {
  readonly name: string;
  readonly place: string;
  /** Visible when the picture can be taken. */
  readonly shows: string;
  readonly options?: BrowserContextOptions;
  /** The acts of a person before the picture. */
  readonly act?: (page: Page) => Promise<void>;
  /** Ends the server before the picture, or shows an empty project. */
  readonly server?: 'gone' | 'empty';
}

const DARK = { colorScheme: 'dark' } as const;
const ON_PHONE = { viewport: PHONE, deviceScaleFactor: 2 };
const heat = (what: string) => async (page: Page) => {
  await page.getByRole('button', { name: what, exact: true }).click();
};
const unfold = async (page: Page) => {
  await page.locator('details.tool > summary', { hasText: 'Edit' }).first().click();
};

export const PAGE_PICTURES: readonly PagePicture[] = [
  {
    name: 'page.png',
    place: '#/runs/fix-pool/graph?agent=main&step=2',
    shows: '.said.live',
    act: unfold,
  },
  {
    name: 'page-dark.png',
    place: '#/runs/busy/timeline',
    shows: '.timeline canvas',
    options: DARK,
  },
  {
    name: 'page-phone.png',
    place: '#/waiting',
    shows: '.home .card',
    options: { ...ON_PHONE, ...DARK },
  },
  {
    name: 'page-question.png',
    place: '#/runs/migrate-orders/graph',
    shows: '.card .code-keyword',
    options: { viewport: { width: 1360, height: 900 } },
  },
  {
    name: 'phone-question.png',
    place: '#/runs/migrate-orders/graph',
    shows: '.card .code-keyword',
    options: ON_PHONE,
  },
  { name: 'failures.png', place: '#/runs/sweep-7/graph', shows: '.failures' },
  {
    name: 'phone-failures-dark.png',
    place: '#/runs/sweep-7/agents',
    shows: '.failures',
    options: { ...ON_PHONE, ...DARK },
  },
  {
    name: 'budget.png',
    place: '#/runs/digest-week-46/log',
    shows: '.log li',
    act: async (page) => {
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'home.png', place: '#/', shows: '.home .card' },
  {
    name: 'permission.png',
    place: '#/runs/release/graph?agent=main',
    shows: '.card.permission',
  },
  {
    name: 'phone-permission.png',
    place: '#/waiting',
    shows: '.card.permission',
    options: ON_PHONE,
  },
  {
    name: 'page-forecast.png',
    place: '#/runs/nightly-5/graph?state=REPORT.sh',
    shows: '.panel .hint',
    act: heat('usual time'),
  },
  {
    name: 'forecast-states-dark.png',
    place: '#/runs/nightly-5/states',
    shows: 'th.plain',
    options: DARK,
  },
  { name: 'page-workflows.png', place: '#/workflows?workflow=fix-pool', shows: 'form.start' },
  { name: 'workflows-dark.png', place: '#/workflows', shows: '.workflow-row b', options: DARK },
  {
    name: 'workflows-fault.png',
    place: '#/workflows?workflow=unfinished',
    shows: '.panel .problem',
  },
  {
    name: 'phone-workflows.png',
    place: '#/workflows',
    shows: '.workflow-row b',
    options: ON_PHONE,
  },
  {
    name: 'phone-start.png',
    place: '#/workflows?workflow=fix-pool',
    shows: 'form.start',
    options: { ...ON_PHONE, ...DARK },
  },
  { name: 'rewound.png', place: '#/runs/nightly-4/log', shows: '.notice .button' },
  {
    name: 'undo-dark.png',
    place: '#/runs/nightly-4/log',
    shows: '.notice .button',
    options: DARK,
    act: async (page) => {
      await page.getByRole('button', { name: 'Undo the rewind' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'rewind.png',
    place: '#/runs/nightly-2/agents?agent=main&step=2',
    shows: '.step .button',
    act: async (page) => {
      await page.getByRole('button', { name: /^Rewind/ }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'resume.png',
    place: '#/runs/busy/agents',
    shows: '.agent-row',
    act: async (page) => {
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'no-run-dark.png', place: '#/runs/nothing', shows: '.empty h2', options: DARK },
  {
    name: 'focus.png',
    place: '#/runs/nightly-5/graph',
    shows: '.graph .node',
    act: async (page) => {
      await page.locator('.graph .node').first().focus();
      await page.keyboard.press('Tab');
    },
  },
  {
    name: 'live-dark.png',
    place: '#/runs/fix-pool/graph?agent=main&step=2',
    shows: '.said.live',
    options: DARK,
    act: unfold,
  },
  {
    name: 'page-sixty.png',
    place: '#/runs/sixty/graph',
    shows: '.graph .node',
    act: async (page) => {
      await page.getByRole('button', { name: 'Show the whole graph' }).click();
      await page.getByRole('button', { name: 'Unfold all' }).waitFor();
    },
  },
  { name: 'page-projects.png', place: '#/projects', shows: '.project-card:nth-child(1)' },
  {
    name: 'phone-projects-dark.png',
    place: '#/projects',
    shows: '.project-card',
    options: { ...ON_PHONE, ...DARK },
  },
  { name: 'overview.png', place: '#/overview', shows: '.overview td' },
  { name: 'phone-overview.png', place: '#/overview', shows: '.overview td', options: ON_PHONE },
  { name: '60-states.png', place: '#/runs/sixty/graph', shows: '.graph .node', act: heat('cost') },
  {
    name: '60-states-dark.png',
    place: '#/runs/sixty/graph',
    shows: '.graph .node',
    options: DARK,
    act: async (page) => {
      await heat('time')(page);
      await page.getByRole('button', { name: 'Show the whole graph' }).click();
    },
  },
  { name: '200-agents.png', place: '#/runs/busy/agents', shows: '.agent-row' },
  { name: '200-agents-graph.png', place: '#/runs/busy/graph', shows: '.graph .agent' },
  { name: '200-agents-timeline.png', place: '#/runs/busy/timeline', shows: '.timeline canvas' },
  { name: 'states.png', place: '#/runs/busy/states?state=FIX.sh', shows: '.figures td' },
  { name: 'log-dark.png', place: '#/runs/fix-pool/log', shows: '.log li', options: DARK },
  { name: 'phone-runs.png', place: '#/', shows: '.run-row .name', options: ON_PHONE },
  { name: 'phone-run.png', place: '#/runs/busy/agents', shows: '.agent-row', options: ON_PHONE },
  {
    name: 'phone-graph.png',
    place: '#/runs/fix-pool/graph',
    shows: '.graph .node',
    options: ON_PHONE,
  },
  {
    name: 'phone-step.png',
    place: '#/runs/fix-pool/agents?agent=main&step=2',
    shows: '.said.live',
    options: { ...ON_PHONE, ...DARK },
  },
  { name: 'empty.png', place: '#/', shows: '.empty h2', server: 'empty' },
  { name: 'empty-phone.png', place: '#/', shows: '.empty h2', options: ON_PHONE, server: 'empty' },
  { name: 'empty-workflows.png', place: '#/workflows', shows: '.main .empty h2', server: 'empty' },
  // The last one.
  { name: 'lost.png', place: '#/runs/fix-pool/graph', shows: '.graph .node', server: 'gone' },
];

/** The pictures that documents show. */
export const DOCUMENT_PICTURES = [
  'page.png',
  'page-dark.png',
  'page-forecast.png',
  'page-phone.png',
  'page-projects.png',
  'page-question.png',
  'page-sixty.png',
  'page-workflows.png',
];

/** Takes the pictures with these names; all, if none is named. */
export async function takePagePictures(folder: string, names: readonly string[]): Promise<void> {
  if (browserPath === undefined) throw new Error('There is no browser.');
  mkdirSync(folder, { recursive: true });
  const sandbox = await sampleProject();
  const browser = await launchBrowser(browserPath);
  const served = await startServe((args) => sandbox.start(...args));
  const empty = new Project({});
  const other = await startServe((args) => empty.start(args));
  try {
    for (const picture of PAGE_PICTURES) {
      if (names.length > 0 && !names.includes(picture.name)) continue;
      const options = { viewport: DESKTOP, ...picture.options };
      const { address } = picture.server === 'empty' ? other : served;
      const { page, context, faults } = await openPage(browser, address, options);
      await page.locator('.run-row .name, .runs .empty').first().waitFor({ state: 'attached' });
      await goTo(page, picture.place);
      await page.locator(picture.shows).first().waitFor();
      if (picture.server === 'gone') {
        await served.kill('SIGKILL');
        await page.getByText('The page has lost the server.').waitFor();
      }
      await picture.act?.(page);
      await page.waitForFunction('document.fonts.status === "loaded"');
      await page.screenshot({ path: join(folder, picture.name), animations: 'disabled' });
      await context.close();
      if (faults.some((fault) => !isMeant(fault))) throw new Error(faults.join(' '));
    }
  } finally {
    await browser.close();
    await served.kill('SIGKILL');
    await other.kill('SIGKILL');
    for (const run of ['fix-pool', 'release']) await sandbox.run('stop', run, '--now');
    await sandbox.remove();
    await empty.dispose();
  }
}

/** Two pictures show what the page says without a run or a server. */
const isMeant = (fault: string) => /status of 404|ERR_/.test(fault);

const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];

export async function sampleProject(): Promise<RaymondSandbox> {
  const never = new Promise(() => {});
  const sandbox = await raymondSandbox({
    age: 'newer',
    workflow: {},
    script: (request, turn) => {
      const messages = JSON.stringify(request.messages);
      if (messages.includes(RELEASE)) return PUBLISH;
      return operatorReply(messages) ?? REPLIES[turn] ?? { content: LAST, pause: never };
    },
  });
  const write = (name: string, text: string) => {
    mkdirSync(dirname(sandbox.file(name)), { recursive: true });
    writeFileSync(sandbox.file(name), text);
  };
  for (const [name, text] of Object.entries({ ...FLOWS, ...OPERATOR_FLOWS })) write(name, text);
  STATES.forEach((state, n) => {
    write(`issues/${state}`, `echo '<goto>${STATES[(n + 1) % STATES.length]}</goto>'\n`);
  });
  for (const [name, text] of Object.entries(SIXTY_STATES))
    write(`sixty/${name.includes('.') ? name : `${name}.md`}`, text);
  write('src/pool.ts', POOL);
  const folder = sandbox.file('.');
  const sixty = Object.keys(SIXTY_STATES).map((name) => (name.includes('.') ? name : `${name}.md`));
  writeBusyRun(folder, 'busy', {
    ...{ agents: 200, events: 100_000, states: STATES, workflow: sandbox.file('issues') },
  });
  writeBusyRun(folder, 'sixty', {
    ...{ agents: 6, events: 3_000, states: sixty, workflow: sandbox.file('sixty') },
  });
  await sandbox.run(
    'fix-pool',
    '--detach',
    '--workflow-id',
    'fix-pool',
    '--budget',
    '5',
    '--permission-mode',
    'acceptEdits',
  );
  await sandbox.model.arrived(5);
  await sandbox.run(
    'release',
    '--detach',
    '--workflow-id',
    'release',
    '--ask-permissions',
    '--wait',
  );
  for (const run of ['nightly-1', 'nightly-2', 'nightly-3', 'nightly-4'])
    await sandbox.run('nightly', '--workflow-id', run);
  await sandbox.run('rewind', 'nightly-4', '--to', 'main:2', '--yes');
  await startOperatorRuns(sandbox);
  await startElsewhere(sandbox);
  write('hold', '');
  await sandbox.run('nightly', '--workflow-id', 'nightly-5');
  return sandbox;
}

/** Runs in other projects of the same user. */
async function startElsewhere(sandbox: RaymondSandbox): Promise<void> {
  for (const [name, script] of Object.entries(ELSEWHERE)) {
    const folder = join(sandbox.file('..'), name);
    mkdirSync(join(folder, '.git'), { recursive: true });
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(join(folder, 'weekly'));
    writeFileSync(join(folder, 'weekly/START.sh'), script);
    const child = spawn(process.execPath, [BIN, 'weekly'], {
      ...{ cwd: folder, env: sandbox.claude.environment, stdio: 'ignore' },
    });
    await once(child, 'exit');
  }
}

const ELSEWHERE = {
  website: `echo '<ask next="START">Publish the new start page?</ask>'\n`,
  'billing-service': `echo 'the ledger does not balance' >&2\nexit 1\n`,
  notes: `echo '<result>Three notes are sorted.</result>'\n`,
};

const RELEASE = 'Publish the release.';

const FLOWS = {
  'fix-pool/workflow.yaml': [
    'name: Fix a race',
    'description: Finds a race in the pool, fixes it, and reviews the change until it is good. Asks before it commits.',
    'input: { label: What goes wrong, default: Two callers get the same connection }',
    'default_budget: 5',
  ].join('\n'),
  'fix-pool/START.md': 'Find the race in src/pool.ts, and plan a fix.\n\n<goto>FIX</goto>\n',
  'fix-pool/FIX.md': 'Fix it, and run the tests.\n\n<goto>REVIEW</goto>\n',
  'fix-pool/REVIEW.md':
    'Review the change.\n\n<goto>FIX</goto>\n<ask next="COMMIT">Shall I commit?</ask>\n',
  'fix-pool/COMMIT.sh': `git commit -am 'Fix the race'\necho '<result>done</result>'\n`,
  'release/workflow.yaml':
    'name: Publish a release\ndescription: Writes the notes, and publishes.\n',
  'release/START.md': `${RELEASE}\n`,
  'issues/workflow.yaml':
    'name: Work through issues\ndescription: Forks an agent for each open issue. Each one plans, fixes, tests and commits.\ninput: { label: A label of the issues, required: true }\n',
  'sixty/workflow.yaml': 'description: Builds a whole product in sixty states.\n',
  'nightly/workflow.yaml':
    'name: Nightly check\ndescription: Tests everything, and writes a report.\n',
  'nightly/START.sh': `sleep 0.2\necho '<goto>TEST</goto>'\n`,
  'nightly/TEST.sh': `sleep 0.6\nif [ -e hold ]; then echo '<ask next="REPORT">Two tests are slow. Go on?</ask>'; else echo '<goto>REPORT</goto>'; fi\n`,
  'nightly/REPORT.sh': `sleep 0.4\necho '<result>All tests pass.</result>'\n`,
  'unfinished/START.md': '---\nallowed_transitions: soon\n---\nWrite the plan.\n',
};

const POOL = `export class Pool<T> {
  #free: T[] = [];

  release(one: T): void {
    this.#free.push(one);
    this.lock.take();
  }
}
`;

const tool = (name: string, input: Record<string, unknown>): Block => ({
  type: 'tool_use',
  name,
  input,
});
const usage = { input_tokens: 9_120, output_tokens: 1_480 };

const REPLIES: readonly Reply[] = [
  {
    content:
      '`release()` puts the connection back **before** it takes the lock, so two callers can get the same one.\n\n1. Take the lock first\n2. Add a test with two callers\n\n<goto>FIX</goto>',
    usage,
  },
  {
    content: [
      { type: 'text', text: 'I read the pool first.' },
      tool('Read', { file_path: 'src/pool.ts' }),
    ],
    usage,
  },
  {
    content: [
      { type: 'text', text: 'The lock has to come **before** the list changes:' },
      tool('Edit', {
        file_path: 'src/pool.ts',
        old_string:
          '  release(one: T): void {\n    this.#free.push(one);\n    this.lock.take();\n  }',
        new_string:
          '  async release(one: T): Promise<void> {\n    await this.lock.take();\n    this.#free.push(one);\n  }',
      }),
    ],
    usage,
  },
  { content: [tool('Bash', { command: 'npm test -- pool', description: 'Run the tests' })], usage },
];

const PUBLISH: Reply = {
  content: [
    { type: 'text', text: 'The notes are ready, and all tests pass. I publish version 2.1.0 now.' },
    tool('Bash', { command: 'npm publish --access public', description: 'Publish the package' }),
  ],
  usage,
};

const LAST =
  'The tests of the pool pass, and the new test fails without the change. I look at the callers of `release` now, because it returns a promise, and every caller has to wait for it.';
