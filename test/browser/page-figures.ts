/**
 * Figures of the page of `raymond serve`: how long it takes until a run is usable, how much memory it
 * takes, and how long it does not react while 50 agents work. `npm run figures:page` prints them.
 */
import type { Browser, Page } from 'playwright-core';
import { writeBusyRun } from '../kept-runs.ts';
import { Project } from '../raymond.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, openPage, type Served, startServe } from './served-page.ts';

const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];
const ROUNDS = 5;
const LIVE_AGENTS = 50;
const WATCHED_MS = 15_000;

export async function pageFigures(): Promise<readonly string[]> {
  if (browserPath === undefined) throw new Error('There is no browser.');
  const project = new Project(filesOf());
  const workflow = project.path('busy');
  writeBusyRun(project.folder, 'small', { agents: 2, events: 5, states: STATES, workflow });
  writeBusyRun(project.folder, 'large', { agents: 200, events: 100_000, states: STATES, workflow });
  const browser = await launchBrowser(browserPath);
  const served = await startServe((args) => project.start(args));
  try {
    const lines = [
      await opening(browser, served, 'small', 'a run with 5 events and 2 agents'),
      await opening(browser, served, 'large', 'a run with 100,000 events and 200 agents'),
    ];
    await project.run(['live', '--detach', '--workflow-id', 'live', '--max-parallel', '200']);
    return [...lines, await smoothness(browser, served)];
  } finally {
    await browser.close();
    await project.run(['stop', 'live', '--now']);
    await served.kill('SIGKILL');
    await project.dispose();
  }
}

/** From the address to the agents on the screen. The first round also reads the journal. */
async function opening(
  browser: Browser,
  { address }: Served,
  run: string,
  what: string,
): Promise<string> {
  const times: number[] = [];
  let heap = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page, context } = await openPage(browser, `${address}&to=/runs/${run}/agents`);
    await page.locator('.agent-row').first().waitFor();
    times.push(Number(await page.evaluate('performance.now()')));
    heap = await heapOf(page);
    await context.close();
  }
  const [first = 0, ...others] = times;
  const middle = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? first;
  return `${what}: usable after ${ms(first)}, again after ${ms(middle)}, ${mb(heap)} of memory in the page`;
}

/** Scrolls and changes views while agents start steps all the time. */
async function smoothness(browser: Browser, { address }: Served): Promise<string> {
  const { page, context } = await openPage(browser, `${address}&to=/runs/live/graph`);
  await page.evaluate(`(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)))
      .observe({ type: 'longtask' });
  })()`);
  const end = Date.now() + WATCHED_MS;
  let views = 0;
  while (Date.now() < end) {
    for (const tab of ['graph', 'agents', 'timeline', 'log']) {
      await goTo(page, `#/runs/live/${tab}`);
      await page.locator('.view > :last-child').waitFor();
      await page.mouse.wheel(0, 200);
      views += 1;
    }
  }
  const tasks = (await page.evaluate('longTasks')) as readonly number[];
  const [sum, longest] = [tasks.reduce((all, one) => all + one, 0), Math.max(0, ...tasks)];
  const heap = await heapOf(page);
  await context.close();
  return `${LIVE_AGENTS} agents live, ${views} views in ${WATCHED_MS / 1000} s: ${tasks.length} tasks over 50 ms, the longest ${ms(longest)}, together ${ms(sum)}, ${mb(heap)} of memory`;
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

const ms = (time: number) => `${Math.round(time)} ms`;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function filesOf(): Readonly<Record<string, string>> {
  const forks = Array.from({ length: LIVE_AGENTS - 1 }, () => '<fork>W</fork>').join('');
  const loop = STATES.map((state, n) => [
    `busy/${state}`,
    `echo '<goto>${STATES[(n + 1) % STATES.length]}</goto>'\n`,
  ]);
  return {
    ...Object.fromEntries(loop),
    'live/START.sh': `echo '${forks}<goto>W</goto>'\n`,
    'live/W.sh': `sleep 1\necho '<goto>V</goto>'\n`,
    'live/V.sh': `sleep 1\necho '<goto>W</goto>'\n`,
  };
}
