/** The page of `raymond serve`: hostile texts, accessibility, and runs with many agents and events. */

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeBusyRun } from '../kept-runs.ts';
import { Project } from '../raymond.ts';
import { axe } from './axe.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, openPage, type Served, startServe } from './served-page.ts';

const EVIL = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`;
const HOSTILE_FLOW = '<img src=x onerror=alert(1)>';
const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

describe.runIf(browserPath !== undefined)('the page of raymond serve', LONG, () => {
  let browser: Browser;
  let project: Project;
  let served: Served;
  const start = (args: readonly string[]) => project.start(args);
  beforeAll(async () => {
    project = new Project({
      [`${HOSTILE_FLOW}/START.sh`]: `cat "$(dirname "$0")/evil.txt" >&2\ncat "$(dirname "$0")/tags.txt"\n`,
      [`${HOSTILE_FLOW}/evil.txt`]: EVIL,
      [`${HOSTILE_FLOW}/workflow.yaml`]: JSON.stringify({
        name: EVIL,
        description: `[x](javascript:alert(1)) ${EVIL}`,
        input: { label: EVIL, default: EVIL },
      }),
      [`${HOSTILE_FLOW}/tags.txt`]: `<fork next="ASK" item="${EVIL.replaceAll('"', '&quot;')}">W</fork>`,
      [`${HOSTILE_FLOW}/W.sh`]: `printf '%s' '<result>${EVIL.replaceAll("'", '`')}</result>'\n`,
      [`${HOSTILE_FLOW}/ASK.sh`]: `printf '%s' '<ask next="ASK">${EVIL.replaceAll("'", '`')} \u202egnp</ask>'\n`,
      'broken/START.md': '---\nallowed_transitions: 5\n---\nx',
      ...Object.fromEntries(
        STATES.map((state, n) => [
          `busy/${state}`,
          `echo '<goto>${STATES[(n + 1) % STATES.length]}</goto>'\n`,
        ]),
      ),
    });
    const workflow = project.path('busy');
    writeBusyRun(project.folder, 'busy', { agents: 200, events: 4_000, states: STATES, workflow });
    await project.run([HOSTILE_FLOW, '--workflow-id', 'hostile']);
    [browser, served] = await Promise.all([launchBrowser(browserPath ?? ''), startServe(start)]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await project?.dispose();
  });

  test('shows hostile texts as they are, and nothing of them runs', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByText('<img src=x onerror=', { exact: false }).first().waitFor();
    for (const place of ['graph', 'timeline', 'agents', 'states', 'log', 'steps', 'changes']) {
      await goTo(page, `#/runs/hostile/${place}`);
      await page.getByRole('heading', { level: 1, name: HOSTILE_FLOW }).waitFor();
      await page.locator('.view > :last-child').waitFor();
    }
    for (const [agent, step] of [
      ['main', 1],
      ['main', 2],
      ['main_w1', 1],
    ] as const) {
      await goTo(page, `#/runs/hostile/agents?agent=${agent}&step=${step}`);
      await page.locator('.step', { hasText: 'onerror' }).waitFor();
    }
    await goTo(page, `#/workflows?workflow=${encodeURIComponent(HOSTILE_FLOW)}`);
    const panel = page.getByRole('complementary');
    await panel.getByRole('heading', { name: '<img src=x' }).waitFor();
    await panel.getByText('[x](javascript:alert(1))', { exact: false }).waitFor();
    await panel.locator('label', { hasText: 'onerror' }).waitFor();
    // A hostile link leads nowhere.
    await goTo(page, `#/workflows?workflow=${encodeURIComponent(EVIL)}`);
    await page.getByText('The list does not have this path.').waitFor();
    await goTo(page, `#/runs/${encodeURIComponent(EVIL)}/agents?agent=${encodeURIComponent(EVIL)}`);
    await page.getByRole('alert').waitFor();
    expect(await page.locator('img:not(.brand img), iframe, object, embed').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(1);
    expect(await page.title()).not.toBe('broken');
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
    await context.close();
  });

  test('cleans markdown: no script, no style, no form, and nothing that the browser loads', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    const inserted = `import('/page/markdown.js').then(({ htmlOf }) => {
      const box = document.createElement('div');
      document.body.append(box);
      box.innerHTML = htmlOf(${JSON.stringify(HOSTILE_MARKDOWN.join('\n\n'))});
      return {
        tags: [...new Set([...box.querySelectorAll('*')].map((one) => one.localName))].sort(),
        attributes: [...new Set([...box.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()))].sort(),
        classes: [...new Set([...box.querySelectorAll('[class]')].map((one) => one.className))].sort(),
        links: [...box.querySelectorAll('a[href]')].map((one) => one.getAttribute('href')),
        text: box.textContent,
      };
    })`;
    const made = (await page.evaluate(inserted)) as Record<string, unknown>;
    expect(made).toMatchObject({
      tags: ['a', 'b', 'br', 'code', 'h1', 'p', 'pre', 'span', 'strong'],
      attributes: ['class', 'href', 'rel', 'target'],
      // Of a code block and a transition tag, none of the agent.
      classes: ['language-html', 'tag'],
      links: ['https://example.org/'],
    });
    expect(made.text).toContain('const a = "<b>";');
    expect(made.text).toContain('→ goes to FIX');
    expect(await page.title()).not.toBe('broken');
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each([
    ['light', ''],
    // The elements are the same. Only the colours differ.
    ['dark', "runOnly: ['color-contrast']"],
  ] as const)('axe finds nothing, %s', async (colorScheme, rules) => {
    const { page, faults, context } = await openPage(browser, served.address, { colorScheme });
    await page.locator('a.run-row', { hasText: 'busy' }).waitFor();
    const found: string[] = [...(await axe(page, 'home', rules))];
    for (const [place, shown] of PLACES) {
      await goTo(page, place);
      await page.locator(shown).first().waitFor();
      found.push(...(await axe(page, place, rules)));
    }
    for (const open of [
      () => page.keyboard.press('?'),
      () => page.getByRole('button', { name: 'Resume' }).click(),
      () => page.getByRole('button', { name: /^Rewind/ }).click(),
    ]) {
      await open();
      await page.getByRole('dialog').waitFor();
      found.push(...(await axe(page, 'dialog', rules)));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows the head of a run while the server still reads its events, and keeps the focus', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => {
      letThrough = resolve;
    });
    await page.route('**/api/changes?run=busy', async (route) => {
      await held;
      await route.continue();
    });
    await page.locator('a.run-row', { hasText: 'busy' }).waitFor();
    await goTo(page, '#/runs/busy/agents');
    await page.getByRole('heading', { level: 1, name: 'busy' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText(/^Reading [\d,]+ events$/).waitFor();
    expect(await page.locator('.agent-row').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).focus();
    letThrough();
    await page.locator('.agent-row').first().waitFor();
    // A key that was pressed meanwhile is not lost.
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a run with 200 agents and many events draws a screenful, and asks for it once', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await goTo(page, '#/runs/busy/agents');
    await page.getByText('200 agents', { exact: true }).waitFor();
    await page.locator('.agent-row').first().waitFor();
    expect(await page.locator('.agent-row').count()).toBeLessThan(60);
    expect(await page.locator('.agent-row').first().textContent()).toContain('failed');
    await page.locator('.agent-row').first().hover();
    await page.mouse.wheel(0, 1_000_000);
    await page.locator('.agent-row', { hasText: 'ended' }).first().waitFor();
    expect(await page.locator('.agent-row').count()).toBeLessThan(60);
    await goTo(page, '#/runs/busy/log');
    await page.getByText(/^busy interrupted \(/).waitFor();
    expect(await page.locator('.log li').count()).toBeLessThanOrEqual(300);
    // One stream has everything, and nothing of the run is read again.
    expect(asked.filter((path) => path.startsWith('/api/'))).toEqual(['/api/changes']);
    expect(faults).toEqual([]);
    await context.close();
  });
});

const PLACES = [
  ['#/runs/busy/graph', '.graph .node'],
  ['#/runs/busy/graph?state=FIX.sh', '.panel'],
  ['#/runs/busy/timeline', '.timeline canvas'],
  ['#/runs/busy/states', '.figures td'],
  ['#/runs/busy/log', '.log li'],
  ['#/waiting', '.home .card'],
  ['#/workflows', '.workflow-row b'],
  ['#/workflows?workflow=busy', 'form.start'],
  ['#/workflows?workflow=broken', '.panel .problem'],
  ['#/runs/busy/agents?agent=main_worker7&step=2', '.panel .step'],
] as const;

const HOSTILE_MARKDOWN = [
  '```html\nconst a = "<b>";\n```',
  '**strong** `code` Then <goto>FIX</goto>',
  '# Title <script>document.title="broken"</script>',
  EVIL,
  '<span class="run-head">x</span><b class="connection">y</b>',
  '<svg onload="document.title=\'broken\'"><a href="javascript:document.title=\'broken\'">x</a></svg>',
  '[a link](javascript:document.title="broken") [data](data:text/html,x) [good](https://example.org/)',
  '![picture](https://example.org/track.png)',
  '<style>body { display: none }</style><link rel="stylesheet" href="https://example.org/a.css">',
  '<form action="https://example.org/"><input name="password"><button>Log in</button></form>',
  '<iframe src="https://example.org/"></iframe><object data="x"></object><embed src="x">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<a href="https://example.org/" style="position:fixed;inset:0" onclick="alert(1)" id="run-filter">',
];
