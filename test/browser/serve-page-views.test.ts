/** The page of `raymond serve`: changed files, the steps of an agent, and other views of a run. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { inSuite } from '../long.ts';
import { axe } from './axe.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, OUTSIDE, openPage, PHONE, placeIn, type Served, startServe } from './served-page.ts';
import { CHAIN, LOOP, LOOPS, TIDY, viewsProject, writeSixty } from './views-project.ts';

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

describe.runIf(browserPath !== undefined)('views of the page', LONG, () => {
  let browser: Browser;
  let served: Served;
  const project = viewsProject();
  beforeAll(async () => {
    await project.run(TIDY);
    await project.run(LOOP);
    await project.run(CHAIN);
    await project.run(['asking', '--workflow-id', 'asking']);
    writeSixty(project);
    [browser, served] = await Promise.all([
      launchBrowser(browserPath ?? ''),
      startServe((args) => project.start(args)),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await project.dispose();
  });

  test('the changed files of a run, of its worktree, of an agent and of a step', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/tidy-1/changes');
    await page.getByText('5 files changed').waitFor();
    await page
      .locator('.patch', { hasText: 'src/pool/pool.ts' })
      .getByText('line3 = 33;')
      .waitFor();
    const tree = page.getByRole('navigation', { name: 'Changed files' });
    await tree.getByRole('button', { name: /new <b>\.ts added/ }).click();
    expect(await page.evaluate('document.activeElement.textContent')).toContain('new <b>.ts');
    await page.getByText("'<img src=x onerror=", { exact: false }).waitFor();
    await page.getByText('The file is no text.').waitFor();
    // The worktree of a child is a part of its own.
    await page.locator('.folder-head', { hasText: 'raymond/tidy-1/docs, not merged' }).waitFor();

    await page.getByRole('combobox', { name: 'Agent' }).selectOption('main_docs1');
    await page.getByText('1 file changed').waitFor();
    expect(placeIn(page)).toBe('#/runs/tidy-1/changes?agent=main_docs1');
    await goTo(page, '#/runs/tidy-1/changes?agent=main&step=1');
    await page.getByRole('heading', { name: 'No file has changed' }).waitFor();
    await page.getByRole('button', { name: 'Step 1' }).click();
    await page.getByText('4 files changed').waitFor();
    await goTo(page, '#/runs/loop/changes');
    await page.getByRole('heading', { name: 'No files were recorded' }).waitFor();
    expect(await page.title()).not.toBe('broken');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the whole conversation of an agent with many steps draws what is visible', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/loop/agents?agent=main');
    await page.getByRole('link', { name: 'All steps and the whole conversation' }).click();
    const talk = page.getByRole('region', { name: 'Conversation of main' });
    await talk.getByRole('article', { name: 'Step 1, START.sh' }).waitFor();
    await talk.getByText('round 0').waitFor();
    const last = 2 * LOOPS + 1;
    expect(await talk.getByRole('article').count()).toBeLessThan(20);
    await goTo(page, `#/runs/loop/steps?agent=main&step=${LOOPS + 1}`);
    const half = talk.getByRole('article', { name: `Step ${LOOPS + 1}, START.sh` });
    await half.getByText(`round ${LOOPS / 2}`).waitFor();
    await page.locator('.step-list [aria-current=step]', { hasText: `${LOOPS + 1}` }).waitFor();
    await page.getByRole('searchbox', { name: /Filter steps/ }).fill(`${last}`);
    await page.getByRole('button', { name: `${last} START.sh` }).click();
    await talk.getByText(`round ${LOOPS}`).waitFor();
    expect(placeIn(page)).toBe(`#/runs/loop/steps?agent=main&step=${last}`);
    expect(await talk.getByRole('article').count()).toBe(1);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the graph names agents, finds states, has a map, and leads to steps and texts', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/tidy-1/graph?agent=main_break2');
    // The mark has the value of the agent's variable, not the end of its name.
    await page.locator('.agent.tone-fail .letter', { hasText: /^broken$/ }).waitFor();
    await page.getByRole('checkbox', { name: 'Follow broken' }).check();
    await page.getByRole('searchbox', { name: /Find a state/ }).fill('break');
    await page.getByText('1 place, Enter shows them').waitFor();
    await page.locator('.node.found .name', { hasText: 'BREAK' }).waitFor();
    await goTo(page, '#/runs/tidy-1/graph?state=BREAK.sh');
    const panel = page.getByRole('complementary', { name: 'State BREAK.sh' });
    await panel.locator('summary', { hasText: 'Script' }).click();
    await panel.getByText('exit 3').waitFor();
    await panel.getByRole('link', { name: /main_break2 step 1 failed/ }).click();
    expect(placeIn(page)).toBe('#/runs/tidy-1/steps?agent=main_break2&step=1');
    await page.getByRole('article', { name: 'Step 1, BREAK.sh' }).waitFor();

    await goTo(page, '#/runs/chain/graph');
    await page.locator('.graph-map .seen').waitFor();
    const before = await page.locator('svg.graph').getAttribute('viewBox');
    await page.locator('.graph-map').click({ position: { x: 5, y: 120 } });
    expect(await page.locator('svg.graph').getAttribute('viewBox')).not.toBe(before);
    await page.getByRole('button', { name: 'Show the whole graph' }).click();
    await page.locator('.graph-map').waitFor({ state: 'detached' });
    expect(await page.evaluate(SMALLEST_NAME)).toBeGreaterThanOrEqual(9);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a graph of 60 states can be read as a whole, and hides nothing when it is folded', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/sixty/graph');
    await page.locator('.node').first().waitFor();
    const across = page.getByRole('button', { name: 'From left to right' });
    // The pane is wide, and the graph is long.
    expect(await across.getAttribute('aria-pressed')).toBe('true');
    expect(await page.evaluate(IS_WIDE)).toBe(true);
    const failed = await page.evaluate(MARKS);
    await page.getByRole('button', { name: 'Show the whole graph' }).click();
    await page.getByRole('button', { name: 'Unfold all' }).waitFor();
    await eventually('all of it is in the pane', () => page.evaluate(IS_WHOLE));
    // Every name is as large as a text that one reads.
    expect(await page.evaluate(SMALLEST_NAME)).toBeGreaterThanOrEqual(9);
    expect(await page.evaluate(MARKS)).toBe(failed);
    // Found inside of a folded region.
    await page.getByRole('searchbox', { name: /Find a state/ }).fill('spec_review');
    await page.locator('.node.found').first().waitFor();
    await page.getByRole('searchbox', { name: /Find a state/ }).fill('');
    const first = page.getByRole('button', { name: /^Unfold \d+ places/ }).first();
    const before = await page.locator('.node').count();
    await first.focus();
    await page.keyboard.press('Enter');
    await eventually('one region is unfolded', async () => {
      return (await page.locator('.node').count()) > before;
    });
    await page.locator('.node').first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: /^State / }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await page.getByRole('button', { name: 'Fold regions' }).waitFor();
    await across.click();
    expect(await page.evaluate(IS_WIDE)).toBe(false);
    // A label is beside its line, not on it.
    expect(await page.evaluate(LABELS_ON_LINES)).toEqual([]);
    await across.click();
    expect(await page.evaluate(LABELS_ON_LINES)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the timeline zooms and sorts its agents', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/tidy-1/timeline');
    await page.getByRole('combobox', { name: 'Order of the agents' }).selectOption('failed');
    const timeline = page.getByRole('application');
    await timeline.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('status').filter({ hasText: 'main_break2 · step 1, BREAK.sh' }).waitFor();
    expect(await page.evaluate(HAS_RED)).toBe(true);
    await page.keyboard.press('+');
    await page.getByRole('slider', { name: 'Part of the time' }).waitFor();
    await page.keyboard.press('0');
    await page.getByRole('slider').waitFor({ state: 'detached' });
    // By state, agents of one state are together. A wait says what for.
    await page.getByRole('combobox', { name: 'Order of the agents' }).selectOption('state');
    await goTo(page, '#/runs/asking/timeline');
    await timeline.focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await page.getByRole('status').filter({ hasText: 'waits for a person' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('runs again with another input, only failed agents, and from a step', async () => {
    await project.run(['run', 'say', '--workflow-id', 'say-1', '--input', 'one']);
    const { page, faults, context } = await openPage(browser, served.address);
    const again = async (run: string, way: RegExp) => {
      await goTo(page, `#/runs/${run}/graph`);
      await page.getByRole('heading', { level: 1, name: run.replace(/-\w+$/, '') }).waitFor();
      await page.locator('.node').first().waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: /^Run again/ }).click();
      await page.getByRole('radio', { name: way }).check();
      return page.getByRole('dialog');
    };
    let dialog = await again('say-1', /The whole workflow/);
    expect(await dialog.getByLabel('Input').inputValue()).toBe('one');
    await dialog.getByLabel('Input').fill('two');
    await dialog.getByRole('button', { name: 'Run again' }).click();
    await dialog.waitFor({ state: 'detached' });
    const second = /say-[^/]+/.exec(placeIn(page))?.[0] ?? '';
    expect(second).not.toBe('say-1');
    await goTo(page, `#/runs/${second}/agents?agent=main`);
    await page.getByText('said two').first().waitFor();

    // A failed agent succeeds when the cause is gone. The other one is not repeated.
    project.write('fixed', '');
    dialog = await again('tidy-1', /1 failed agent/);
    await dialog.getByRole('button', { name: 'Run again' }).click();
    await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
    const steps = () => project.journal('tidy-1').filter(({ type }) => type === 'step-started');
    expect(steps().map((one) => ('agent' in one ? one.agent : ''))).toEqual(
      expect.arrayContaining(['main_break2']),
    );
    expect(steps()).toHaveLength(5);

    dialog = await again('say-1', /From a step/);
    await dialog.getByRole('textbox', { name: 'Step' }).fill('1');
    // No record of the files before this short script exists.
    await dialog.getByRole('checkbox', { name: 'Leave files as they are' }).check();
    await dialog.getByRole('button', { name: 'Run again' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
    expect(project.journal('say-1').filter(({ type }) => type === 'run-rewound')).toHaveLength(1);

    await goTo(page, `#/compare?a=say-1&b=${second}`);
    for (const figure of ['Cost', 'Time at work', 'Steps'])
      await page.getByRole('row', { name: new RegExp(`^${figure}`) }).waitFor();
    await page.locator('.compared', { hasText: 'Changed files' }).waitFor();
    const result = page.locator('.compared', { hasText: 'Result' });
    await result.locator('.removed', { hasText: 'said one' }).waitFor();
    await result.locator('.added', { hasText: 'said two' }).waitFor();
    await page.locator('.compared', { hasText: 'Path of main' }).getByText('The same').waitFor();
    await goTo(page, '#/overview');
    await page.getByRole('row', { name: /^say 2 100 %/ }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows the variants of a run side by side, and each beside the run', async () => {
    const args = ['--at', 'main:1', '--no-files', '--input', 'three', '--times', '2', '--json'];
    const { stdout, stderr } = await project.run(['try', 'say-1', ...args]);
    const variants: { id: string }[] = JSON.parse(stdout || stderr).moments[0].variants;
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/compare?a=say-1');
    const table = page.locator('.compared', { hasText: 'Variants of say-1 from before main:1' });
    await table.getByRole('row', { name: /^say-1 as it was/ }).waitFor();
    for (const { id } of variants)
      await table
        .getByRole('row', { name: new RegExp(`^${id} input three.*completed.*said three`) })
        .waitFor();
    const id = variants[1]?.id ?? '';
    await table
      .getByRole('row', { name: new RegExp(`^${id}`) })
      .getByText('Compare')
      .click();
    await page.getByRole('row', { name: /^Steps/ }).waitFor();
    expect(placeIn(page)).toBe(`#/compare?a=say-1&b=${id}`);
    // A variant leads to the others of its run.
    await goTo(page, `#/compare?a=${id}`);
    await table.waitFor();
    await goTo(page, `#/runs/${id}/graph`);
    await page.getByRole('link', { name: 'say-1 from before main:1' }).click();
    await table.waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('stops and resumes several runs at once', async () => {
    for (const id of ['wait-1', 'wait-2'])
      await project.run(['wait', '--detach', '--workflow-id', id]);
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/overview');
    const bulk = page.locator('.bulk');
    const choose = async () => {
      for (const id of ['wait-1', 'wait-2'])
        await bulk.getByRole('checkbox', { name: `wait ${id}` }).check();
    };
    const both = (status: string | RegExp) =>
      bulk
        .locator('li', { hasText: /wait-[12]/ })
        .filter({ hasText: status })
        .nth(1)
        .waitFor();
    await both('running');
    await choose();
    await bulk.getByRole('button', { name: 'Stop 2' }).click();
    await page.getByText('2 runs will stop when running steps have finished.').waitFor();
    project.write('go-on', '');
    await both(/interrupted|stopped/);
    await choose();
    await bulk.getByRole('button', { name: 'Resume 2' }).click();
    await both('completed');

    await bulk.getByRole('combobox', { name: 'Which runs' }).selectOption('finished');
    await choose();
    await bulk.getByRole('button', { name: 'Delete 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 runs?' });
    await dialog.getByText('wait-1').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(project.journal('wait-1').length).toBeGreaterThan(0);
    await bulk.getByRole('button', { name: 'Delete 2' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 runs deleted.').waitFor();
    await bulk.getByRole('checkbox', { name: 'wait wait-1' }).waitFor({ state: 'detached' });
    expect(project.journal('wait-1')).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('keeps a run with work that exists nowhere else, and says which', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await project.run(['wip', '--workflow-id', 'wip']);
    await goTo(page, '#/overview');
    const bulk = page.locator('.bulk');
    await bulk.getByRole('checkbox', { name: 'wip wip' }).check();
    await bulk.getByRole('button', { name: 'Delete 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 run kept, because of work that exists nowhere else.').waitFor();
    expect(project.journal('wip').length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows all projects, counts what waits in them, and works in another one', async () => {
    const other = join(project.folder, '..', `more <b>${EVIL}`.replaceAll('/', ''));
    mkdirSync(join(other, '.git'), { recursive: true });
    writeFileSync(join(other, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    mkdirSync(join(other, 'ask'));
    writeFileSync(join(other, 'ask/START.sh'), `echo '<ask next="END">Which colour?</ask>'\n`);
    writeFileSync(join(other, 'ask/END.sh'), `echo "<result>$RAYMOND_RESULT</result>"\n`);
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByRole('link', { name: /All projects/ }).waitFor();
    const asks = await openQuestions(page);
    await project.run(['ask', '--workflow-id', 'asked'], { cwd: other });
    // The title and the head count it, although the page shows another project.
    await page.getByRole('link', { name: /\+1 waiting for you in other projects/ }).click();
    await eventually('the title counts it', async () =>
      (await page.title()).startsWith(`(${asks + 1}) `),
    );
    const card = page.getByRole('article', { name: 'Project more <b>' });
    await card.getByText('1 run, $0.00 in total').waitFor();
    expect(await axe(page, 'projects', '')).toEqual([]);
    await card.getByRole('link', { name: '1 waiting for you' }).click();
    await page.locator('.card', { hasText: 'Which colour?' }).getByRole('textbox').fill('blue');
    await page.keyboard.press('Control+Enter');
    await page.getByText('The answer for main is stored.').waitFor();
    await goTo(page, '#/workflows?workflow=ask');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'ask' }).waitFor();
    await page.getByText('Which colour?').first().waitFor();
    expect(existsSync(join(other, '.raymond'))).toBe(true);
    // A link and a filter keep the project, and so does a new tab.
    await page.getByRole('button', { name: /^Waits for me/ }).click();
    expect(new URL(page.url()).searchParams.get('project')).toBe(other);
    await page.reload();
    await page.getByText('Which colour?').first().waitFor();
    await goTo(page, '#/projects');
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      page
        .getByRole('article', { name: 'Project project' })
        .getByRole('link', { name: 'project' })
        .click({ modifiers: ['Control'] }),
    ]);
    await tab.getByRole('link', { name: /tidy-1/ }).waitFor();
    await tab.goto(`${new URL(page.url()).origin}/?project=/etc#/`);
    await tab.getByText('There is no project /etc with runs of yours.').first().waitFor();
    expect(await page.title()).not.toBe('broken');
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(
    inSuite<readonly [string, string, BrowserContextOptions]>(
      [
        ['light', '', {}],
        // The elements and the colours are the same.
        ['phone', "rules: { 'color-contrast': { enabled: false } }", { viewport: PHONE }],
      ],
      [['dark', "runOnly: ['color-contrast']", { colorScheme: 'dark' }]],
    ),
  )('axe finds nothing, and nothing is wider than the screen: %s', async (_, rules, options) => {
    const { page, faults, context } = await openPage(browser, served.address, options);
    const found: string[] = [];
    for (const [place, shown] of PLACES) {
      await goTo(page, place);
      await page.locator(shown).first().waitFor();
      found.push(...(await axe(page, place, rules)));
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(wide) > 0) found.push(`${place} is ${wide} px too wide`);
      const outside = (await page.evaluate(OUTSIDE)) as readonly string[];
      found.push(...outside.map((control) => `${place} has a control off the screen: ${control}`));
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});

const EVIL = `<img src=x onerror="document.title='broken'">`;

/** How many questions the title counts. */
async function openQuestions(page: Page): Promise<number> {
  return Number(/^\((\d+)\)/.exec(await page.title())?.[1] ?? 0);
}

/** Whether a pixel of the timeline has the colour of failed steps. */
const HAS_RED = `(() => {
  const canvas = document.querySelector('.timeline canvas');
  const [red, green, blue] = getComputedStyle(document.querySelector('[data-kind=failed]')).backgroundColor.match(/\\d+/g).map(Number);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4) if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
  return false;
})()`;

const IS_WIDE = `(() => { const { width, height } = document.querySelector('svg.graph').viewBox.baseVal; const boxes = [...document.querySelectorAll('.node .box')].map((one) => one.getBBox()); const span = (of, size) => Math.max(...boxes.map((one) => one[of] + one[size])) - Math.min(...boxes.map((one) => one[of])); return width > 0 && height > 0 && span('x', 'width') > span('y', 'height'); })()`;

/** Whether no box is outside of the pane. */
const IS_WHOLE = `(() => { const pane = document.querySelector('.graph-pane').getBoundingClientRect(); return [...document.querySelectorAll('.node .box')].map((one) => one.getBoundingClientRect()).every((one) => one.left >= pane.left - 1 && one.right <= pane.right + 1 && one.top >= pane.top - 1 && one.bottom <= pane.bottom + 1); })()`;

/** The size of the smallest name on the screen, in pixels of its font. */
const SMALLEST_NAME = `(() => { const svg = document.querySelector('svg.graph'); const scale = svg.getScreenCTM().a; return Math.min(...[...document.querySelectorAll('.node:not(.reference) .name')].map((one) => parseFloat(getComputedStyle(one).fontSize) * scale)); })()`;

/** How many agents have marks, or are counted beside them. */
const MARKS = `document.querySelectorAll('.graph .agent').length + [...document.querySelectorAll('.graph .crowd')].reduce((sum, one) => sum + Number(one.textContent), 0)`;

/** The labels whose middle line touches a line of the graph. Only lines nearby are looked at closely. */
const LABELS_ON_LINES = `(() => {
  const edges = [...document.querySelectorAll('.graph .edge')].map((edge) => ({ edge, box: edge.getBBox() }));
  const near = (box, point) => point.x > box.x - 9 && point.x < box.x + box.width + 9 && point.y > box.y - 9 && point.y < box.y + box.height + 9;
  return [...document.querySelectorAll('.graph .edge-label')].flatMap((label) => {
    const { x, y, width, height } = label.getBBox();
    const points = [0.25, 0.5, 0.75].map((part) => new DOMPoint(x + width * part, y + height / 2));
    const isOn = edges.some(({ edge, box }) => points.some((point) => near(box, point) && edge.isPointInStroke(point)));
    return isOn ? [label.textContent] : [];
  });
})()`;

const PLACES = [
  ['#/runs/tidy-1/timeline', '.timeline canvas'],
  ['#/compare?a=tidy-1&b=chain', '.compare td'],
  ['#/overview', '.overview tbody th'],
  ['#/projects', '.project-card'],
  ['#/runs/sixty/graph', '.graph .fold'],
  ['#/runs/sixty/agents', '.agent-row'],
  ['#/runs/sixty/states', '.figures td'],
  ['#/runs/sixty/log', '.log li'],
  ['#/runs/tidy-1/graph?state=BREAK.sh', '.steps-here a'],
  ['#/runs/chain/graph', '.graph-map'],
  ['#/runs/tidy-1/changes', '.patch pre'],
  ['#/runs/tidy-1/steps?agent=main_break2&step=1', '.one-step .outcome'],
] as const;
