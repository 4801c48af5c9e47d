/** The page of `raymond serve`: changed files, the steps of an agent, and other views of a run. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axe } from './axe.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, openPage, PHONE, placeIn, type Served, startServe } from './served-page.ts';
import { CHAIN, LOOP, LOOPS, TIDY, viewsProject } from './views-project.ts';

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
    const size = await page
      .locator('.node .name')
      .first()
      .evaluate((one) => one.style.fontSize);
    expect(Number.parseFloat(size)).toBeGreaterThan(20);
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
    await page.keyboard.press('+');
    await page.getByRole('slider', { name: 'Part of the time' }).waitFor();
    await page.keyboard.press('0');
    await page.getByRole('slider').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('runs again with another input, only failed agents, and from a step', async () => {
    await project.run(['say', '--workflow-id', 'say-1', '--input', 'one']);
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
    const result = page.locator('.compared', { hasText: 'Result' });
    await result.locator('.removed', { hasText: 'said one' }).waitFor();
    await result.locator('.added', { hasText: 'said two' }).waitFor();
    await page.locator('.compared', { hasText: 'Path of main' }).getByText('The same').waitFor();
    await goTo(page, '#/overview');
    await page.getByRole('row', { name: /^say 2 100 %/ }).waitFor();
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
    await bulk.getByText('raymond prune wait-2 wait-1').waitFor();
    await bulk.getByRole('button', { name: 'Resume 2' }).click();
    await both('completed');
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: PHONE }],
  ] as const)('axe finds nothing, and nothing is wider than the screen: %s', async (_, options) => {
    const { page, faults, context } = await openPage(browser, served.address, options);
    const found: string[] = [];
    for (const [place, shown] of PLACES) {
      await goTo(page, place);
      await page.locator(shown).first().waitFor();
      found.push(...(await axe(page, place, '')));
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(wide) > 0) found.push(`${place} is ${wide} px too wide`);
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});

const PLACES = [
  ['#/runs/tidy-1/timeline', '.timeline canvas'],
  ['#/compare?a=tidy-1&b=chain', '.compare td'],
  ['#/overview', '.overview td'],
  ['#/runs/tidy-1/graph?state=BREAK.sh', '.steps-here a'],
  ['#/runs/chain/graph', '.graph-map'],
  ['#/runs/tidy-1/changes', '.patch pre'],
  ['#/runs/tidy-1/steps?agent=main_break2&step=1', '.one-step .outcome'],
] as const;
