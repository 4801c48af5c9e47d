/**
 * Figures of the page of `raymond serve`: how long it takes until a run is usable, how much memory it
 * takes, what the server sends, and how long it does not react while agents work. `npm run figures:page`
 * prints them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { ownerIn, writeBusyRun, writeKeptRuns } from '../kept-runs.ts';
import { Project } from '../raymond.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { DESKTOP, goTo, openIn, openPage, type Served, startServe } from './served-page.ts';

const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];
const ROUNDS = 5;
const LIVE_AGENTS = 50;
const WATCHED_MS = 15_000;
const COUNTED_MS = 20_000;

/** The figures, each with the name under which `npm run figures:page -- -t` finds it. */
export const FIGURES: Readonly<Record<string, (measure: Measure) => Promise<readonly string[]>>> = {
  opening: async (measure) => [
    await measure.opening('small', 'a run with 5 events and 2 agents'),
    await measure.opening('large', 'a run with 100,000 events and 200 agents'),
    await measure.opening(undefined, 'a list of 320 runs'),
  ],
  idle: async (measure) => [
    await measure.traffic('an idle page with 320 runs', '/'),
    await measure.traffic('an idle page of a run', '/runs/large/graph'),
  ],
  streams: async (measure) => {
    await measure.start('six');
    return [await measure.traffic('six agents that stream', '/runs/six/graph?agent=main&step=2')];
  },
  loop: async (measure) => {
    await measure.start('loop', '--max-iterations', '0');
    return [await measure.traffic('a fast loop', '/runs/loop/graph?agent=main')];
  },
  scripts: async (measure) => {
    await measure.start('live');
    return [await measure.smoothness('live', `${LIVE_AGENTS} agents with scripts`)];
  },
  smoothness: async (measure) => {
    await measure.start('twenty');
    return [await measure.smoothness('twenty', '20 agents that stream')];
  },
};

interface Measure {
  start(flow: string, ...options: readonly string[]): Promise<void>;
  opening(run: string | undefined, what: string): Promise<string>;
  traffic(what: string, place: string): Promise<string>;
  smoothness(run: string, what: string): Promise<string>;
}

export async function pageFigures(
  figures: (measure: Measure) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (browserPath === undefined) throw new Error('There is no browser.');
  const project = new Project(filesOf());
  const workflow = project.path('busy');
  // The user's own, because the journal of a stranger is read without its snapshots.
  const owner = await ownerIn(project.environment.XDG_STATE_HOME ?? '');
  const busy = { states: STATES, workflow };
  writeBusyRun(project.folder, 'small', { agents: 2, events: 5, ...busy }, owner);
  writeBusyRun(project.folder, 'large', { agents: 200, events: 100_000, ...busy }, owner);
  writeKeptRuns(project.folder, 318, undefined, owner);
  // The list remembers runs that have not changed for two seconds.
  await delay(2_500);
  const browser = await launchBrowser(browserPath);
  const served = await startServe((args) => project.start(args));
  const env = { RAYMOND_CLAUDE: FAKE_AGENT, FAKE_CLAUDE: 'streams' };
  const started: string[] = [];
  try {
    return await figures({
      opening: (run, what) => opening(browser, served, run, what),
      traffic: (what, place) => traffic(browser, served, what, place),
      smoothness: (run, what) => smoothness(browser, served, run, what),
      async start(flow, ...options) {
        const args = [flow, '--detach', '--workflow-id', flow, '--max-parallel', '200', ...options];
        await project.run(args, { env });
        started.push(flow);
      },
    });
  } finally {
    await browser.close();
    for (const run of started) await project.run(['stop', run, '--now']);
    await served.kill('SIGKILL');
    await project.dispose();
  }
}

/** From the address to the agents on the screen. The first round also reads the journal. */
async function opening(
  browser: Browser,
  { address }: Served,
  run: string | undefined,
  what: string,
): Promise<string> {
  const [place, shown] =
    run === undefined ? ['/', 'a.run-row'] : [`/runs/${run}/agents`, '.agent-row'];
  const times: number[] = [];
  let heap = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const context = await browser.newContext({ viewport: DESKTOP });
    await context.addInitScript(`(${timeOf})(${JSON.stringify(shown)})`);
    const { page } = await openIn(context, `${address}&to=${place}`);
    times.push(Number(await page.evaluate('shownAt')));
    heap = await heapOf(page);
    await context.close();
  }
  const [first = 0, ...others] = times;
  const middle = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? first;
  return `${what}: usable after ${ms(first)}, again after ${ms(middle)}, ${mb(heap)} of memory in the page`;
}

/** Notes in the page itself when the first frame with an element was painted. */
const timeOf = `(shown) => {
  window.shownAt = new Promise((resolve) => {
    // Asking at each frame would take time from the server on a machine with few processors.
    const changes = new MutationObserver(() => {
      if (!document.querySelector(shown)) return;
      changes.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(resolve));
    });
    changes.observe(document, { childList: true, subtree: true });
  });
}`;

/** What the page receives after it is complete. */
async function traffic(
  browser: Browser,
  { address }: Served,
  what: string,
  place: string,
): Promise<string> {
  const isIdle = what.includes('idle');
  const { page, context } = await openPage(browser, `${address}&to=${encodeURIComponent(place)}`);
  const session = await context.newCDPSession(page);
  let bytes = 0;
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  // Only requests from now on are counted.
  await page.reload();
  await page
    .locator(place === '/' ? 'a.run-row' : '.node')
    .first()
    .waitFor();
  if (place.includes('six')) await page.locator('.said.live').first().waitFor();
  // The first values of a large run are no part of what an open page costs. On a busy machine they
  // arrive late, so an idle page is counted from the first quiet seconds on.
  do {
    bytes = 0;
    await delay(3_000);
  } while (isIdle && bytes > 2_000);
  bytes = 0;
  await delay(COUNTED_MS);
  await context.close();
  return `${what}: ${((bytes / 1000) * (60_000 / COUNTED_MS)).toFixed(1)} KB in a minute`;
}

/** Scrolls and changes views while agents start steps all the time. */
async function smoothness(
  browser: Browser,
  { address }: Served,
  run: string,
  what: string,
): Promise<string> {
  const { page, context } = await openPage(browser, `${address}&to=/runs/${run}/graph`);
  await page.evaluate(`(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((one) => one.duration)))
      .observe({ type: 'longtask' });
  })()`);
  // A figure of agents that are silent would say nothing.
  if (run === 'twenty') {
    await goTo(page, `#/runs/${run}/graph?agent=main`);
    await page.locator('.said.live').first().waitFor();
  }
  const end = Date.now() + WATCHED_MS;
  let views = 0;
  while (Date.now() < end) {
    for (const tab of ['graph', 'agents', 'timeline', 'log']) {
      await goTo(page, `#/runs/${run}/${tab}?agent=main`);
      await page.locator('.view > :last-child').waitFor();
      await page.mouse.wheel(0, 200);
      views += 1;
    }
  }
  const tasks = (await page.evaluate('longTasks')) as readonly number[];
  const [sum, longest] = [tasks.reduce((all, one) => all + one, 0), Math.max(0, ...tasks)];
  const heap = await heapOf(page);
  await context.close();
  return `${what}, ${views} views in ${WATCHED_MS / 1000} s: ${tasks.length} tasks over 50 ms, the longest ${ms(longest)}, together ${ms(sum)}, ${mb(heap)} of memory`;
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

const ms = (time: number) => `${Math.round(time)} ms`;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const FAKE_AGENT = fileURLToPath(new URL('../real-agent/fake-claude.js', import.meta.url));

function filesOf(): Readonly<Record<string, string>> {
  const forks = (agents: number) => '<fork>W</fork>'.repeat(agents - 1);
  const loop = STATES.map((state, n) => [
    `busy/${state}`,
    `echo '<goto>${STATES[(n + 1) % STATES.length]}</goto>'\n`,
  ]);
  return {
    ...Object.fromEntries(loop),
    'six/START.sh': `echo '${forks(6)}<goto>W</goto>'\n`,
    'six/W.md': 'Work.\n',
    'twenty/START.sh': `echo '${forks(20)}<goto>W</goto>'\n`,
    'twenty/W.md': 'Work.\n',
    'loop/START.sh': `echo '<goto>NEXT</goto>'\n`,
    'loop/NEXT.sh': `echo '<goto>START</goto>'\n`,
    'live/START.sh': `echo '${forks(LIVE_AGENTS)}<goto>W</goto>'\n`,
    'live/W.sh': `sleep 1\necho '<goto>V</goto>'\n`,
    'live/V.sh': `sleep 1\necho '<goto>W</goto>'\n`,
  };
}
