/**
 * Pictures of the page of `raymond serve`: a live run of the real agent with a scripted model, a workflow
 * of 60 states, and a run with 200 agents. `npm run pictures:page` takes them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SIXTY_STATES } from '../drawings/ten-workflows.ts';
import { writeBusyRun } from '../kept-runs.ts';
import { type RaymondSandbox, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import type { Block, Reply } from '../real-agent/scripted-model.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { DESKTOP, goTo, openPage, PHONE, startServe } from './served-page.ts';

export interface PagePicture {
  readonly name: string;
  readonly place: string;
  /** Visible when the picture can be taken. */
  readonly shows: string;
  readonly options?: BrowserContextOptions;
  /** What a person does first. */
  readonly act?: (page: Page) => Promise<void>;
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
  { name: 'home.png', place: '#/', shows: '.home .card' },
  {
    name: 'live-dark.png',
    place: '#/runs/fix-pool/graph?agent=main&step=2',
    shows: '.said.live',
    options: DARK,
    act: unfold,
  },
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
];

/** The pictures that documents show. */
export const DOCUMENT_PICTURES = ['page.png', 'page-dark.png'];

/** Takes the pictures with these names; all, if none is named. */
export async function takePagePictures(folder: string, names: readonly string[]): Promise<void> {
  if (browserPath === undefined) throw new Error('There is no browser.');
  mkdirSync(folder, { recursive: true });
  const sandbox = await sampleProject();
  const browser = await launchBrowser(browserPath);
  const served = await startServe((args) => sandbox.start(...args));
  try {
    for (const picture of PAGE_PICTURES) {
      if (names.length > 0 && !names.includes(picture.name)) continue;
      const options = { viewport: DESKTOP, ...picture.options };
      const { page, context, faults } = await openPage(browser, served.address, options);
      await page.locator('.run-row .name').first().waitFor({ state: 'attached' });
      await goTo(page, picture.place);
      await page.locator(picture.shows).first().waitFor();
      await picture.act?.(page);
      await page.waitForFunction('document.fonts.status === "loaded"');
      await page.screenshot({ path: join(folder, picture.name), animations: 'disabled' });
      await context.close();
      if (faults.length > 0) throw new Error(faults.join(' '));
    }
  } finally {
    await browser.close();
    await served.kill('SIGKILL');
    await sandbox.run('stop', 'fix-pool', '--now');
    await sandbox.remove();
  }
}

const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];

async function sampleProject(): Promise<RaymondSandbox> {
  const never = new Promise(() => {});
  const sandbox = await raymondSandbox({
    age: 'newer',
    workflow: {},
    script: (_, turn) => REPLIES[turn] ?? { content: LAST, pause: never },
  });
  const write = (name: string, text: string) => {
    mkdirSync(dirname(sandbox.file(name)), { recursive: true });
    writeFileSync(sandbox.file(name), text);
  };
  for (const [name, text] of Object.entries(FLOW)) write(`fix-pool/${name}`, text);
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
  return sandbox;
}

const FLOW = {
  'START.md': 'Find the race in src/pool.ts, and plan a fix.\n\n<goto>FIX</goto>\n',
  'FIX.md': 'Fix it, and run the tests.\n\n<goto>REVIEW</goto>\n',
  'REVIEW.md': 'Review the change.\n\n<goto>FIX</goto>\n<ask next="COMMIT">Shall I commit?</ask>\n',
  'COMMIT.sh': `git commit -am 'Fix the race'\necho '<result>done</result>'\n`,
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

const LAST =
  'The tests of the pool pass, and the new test fails without the change. I look at the callers of `release` now, because it returns a promise, and every caller has to wait for it.';
