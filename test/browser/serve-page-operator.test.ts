/** The page of `raymond serve` for an operator: what waits, what runs are for, and why something failed. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { ownerIn, writeBusyRun, writeTriagedRuns } from '../kept-runs.ts';
import { Project } from '../raymond.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { OPERATOR_FLOWS } from './operator-project.ts';
import {
  DESKTOP,
  goTo,
  OUTSIDE,
  openPage,
  PHONE,
  placeIn,
  type Served,
  SIDEWAYS,
  startServe,
} from './served-page.ts';

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

const EVIL = `<img src=x onerror="document.title='broken'">`;
const STATES = ['START.sh', 'PLAN.sh', 'FIX.sh', 'TEST.sh', 'COMMIT.sh'];

const FLOWS = {
  ...OPERATOR_FLOWS,
  'loop/START.sh': `echo '<goto>START</goto>'\n`,
  'slow/START.sh': `for n in $(seq 200); do echo "line $n"; done >&2\nwhile [ ! -e finish ]; do sleep 0.05; done\necho '<goto>NEXT</goto>'\n`,
  'slow/NEXT.sh': `while [ ! -e finish-2 ]; do sleep 0.05; done\necho '<result>over</result>'\n`,
  'later/START.sh': `while [ ! -e ask-now ]; do sleep 0.05; done\necho '<ask next="END">Shall I go on? (yes/no)</ask>'\n`,
  'later/END.sh': `echo "<result>$RAYMOND_RESULT</result>"\n`,
  'evil/START.sh': `cat "$(dirname "$0")/evil.txt"\n`,
  'evil/evil.txt': `<ask next="END">${EVIL}\n\n| a |\n| --- |\n| ${EVIL} |\n\n1. ${EVIL}\n2. \u202edne\u001b[31m</ask>`,
  'evil/END.sh': `echo '<result>x</result>'\n`,
};

describe.runIf(browserPath !== undefined)('the page for an operator', LONG, () => {
  let browser: Browser;
  let project: Project;
  let served: Served;
  const start = (args: readonly string[]) => project.start(args);
  beforeAll(async () => {
    project = new Project(FLOWS, 'garden');
    const run = (flow: string, id: string, ...more: readonly string[]) =>
      project.run([flow, '--workflow-id', id, ...more]);
    await run('triage', 'triage-1', '--input', 'Login fails after a reset');
    await run('triage', 'triage-2', '--input', 'Typo in the mail');
    await run('sweep', 'sweep', '--input', 'All packages');
    await run('deploy', 'deploy', '--input', 'Release 2.1.0');
    await run('migrate', 'migrate', '--input', 'Make the list fast');
    await run('loop', 'loop', '--max-iterations', '3');
    await run('evil', 'evil', '--input', EVIL);
    const workflow = project.path('triage');
    const busy = { agents: 40, events: 1_000, states: STATES, workflow };
    writeBusyRun(
      project.folder,
      'busy',
      busy,
      await ownerIn(project.environment.XDG_STATE_HOME ?? ''),
    );
    [browser, served] = await Promise.all([launchBrowser(browserPath ?? ''), startServe(start)]);
  }, LONG.timeout);
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await project?.dispose();
  });

  test.each([
    ['light', DESKTOP],
    ['dark', PHONE],
  ] as const)('a question is markdown in full, with choices, %s', async (colorScheme, viewport) => {
    const { page, faults, context } = await openPage(browser, served.address, {
      ...{ colorScheme, viewport, permissions: ['clipboard-read', 'clipboard-write'] },
    });
    await goTo(page, '#/waiting');
    const card = page.locator('.card', { hasText: '1.2 million rows' });
    await card.locator('strong', { hasText: '1.2 million rows' }).waitFor();
    await card.locator('td', { hasText: '10 min' }).waitFor();
    expect(await card.locator('.task').allTextContents()).toEqual(['☑', '☑', '☐']);
    await card.locator('.code-keyword', { hasText: 'CREATE' }).first().waitFor();
    expect(await card.locator('pre').textContent()).toContain('(created_at DESC);');
    // The card names the run, what it is for, its cost, and how long it has waited.
    await card.getByRole('link', { name: 'migrate' }).waitFor();
    for (const text of ['Make the list fast', '$0.00', /^waits for \d/])
      await card.getByText(text).first().waitFor();
    expect(await page.evaluate(CUT)).toEqual([]);
    await card.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('**1.2 million rows**');
    await card.getByRole('button', { name: 'Partition by month' }).click();
    const field = card.getByRole('textbox');
    expect(await field.inputValue()).toBe('Partition by month');
    const before = (await field.boundingBox())?.height ?? 0;
    await field.fill('one\ntwo\nthree\nfour');
    expect((await field.boundingBox())?.height ?? 0).toBeGreaterThan(before);
    await field.fill('');
    await card.getByRole('button', { name: 'Answer' }).click();
    await card.getByRole('alert').getByText('Write an answer first.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the title, the icon and a notification call for a question that comes', async () => {
    await project.run(['later', '--detach', '--workflow-id', 'later']);
    const context = await browser.newContext({ permissions: ['notifications'] });
    const page = await context.newPage();
    // A page without a window has no focus, and shows no notifications.
    await page.addInitScript(`
      window.notified = [];
      window.tones = 0;
      window.AudioContext = class {
        currentTime = 0;
        createGain = () => ({ gain: {}, connect() {} });
        createOscillator = () => ({ frequency: {}, connect() {}, start() { tones += 1; }, stop() {} });
        close = async () => {};
      };
      document.hasFocus = () => false;
      window.Notification = class {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, options) { notified.push(title + ' | ' + options.body); }
        close() {}
      };`);
    await page.goto(served.address);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notify me' }).waitFor({ state: 'detached' });
    await page.locator('.card').first().waitFor();
    const waiting = Number(/^\((\d+)\) garden · Raymond$/.exec(await page.title())?.[1]);
    expect(waiting).toBeGreaterThan(0);
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/);
    expect(await page.evaluate('notified')).toEqual([]);
    await page.getByRole('button', { name: 'Calls' }).click();
    await page.getByRole('menuitem', { name: /^Turn the sound on/ }).click();
    expect(await page.evaluate('tones')).toBe(0);
    project.write('ask-now', '');
    await eventually('it is notified', () => page.evaluate('notified.length > 0'));
    expect(await page.evaluate('notified')).toEqual([
      'garden: later waits for you | Shall I go on? (yes/no)',
    ]);
    expect(await page.title()).toBe(`(${waiting + 1}) garden · Raymond`);
    expect(await page.evaluate('tones')).toBe(2);
    // It is asked for once.
    await page.reload();
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await page.locator('.card').first().waitFor();
    expect(await page.getByRole('button', { name: 'Notify me' }).count()).toBe(0);
    await goTo(page, '#/runs/later/graph');
    await eventually('the run is in the title', async () =>
      (await page.title()).includes('later · garden'),
    );
    await page.getByRole('button', { name: 'yes' }).click();
    await page.keyboard.press('Control+Enter');
    await page.locator('.run-head').getByText('Result').waitFor();
    await page.locator('.run-head').getByText('yes', { exact: true }).waitFor();
    await eventually('the title counts one less', async () =>
      (await page.title()).startsWith(`(${waiting}) `),
    );
    await context.close();
  });

  test('runs are found by what they are for, what came of them, cost and date', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    const rows = page.locator('a.run-row');
    await rows.first().waitFor();
    const search = page.getByRole('searchbox', { name: /^Find runs/ });
    for (const [words, ids] of [
      ['login reset', ['triage-1']],
      ['good-first-issue', ['triage-2']],
      ['remote repository', ['deploy']],
      ['cost>0', ['busy']],
      // All began within the last day, at whatever time of the day that is.
      [`before:${new Date(Date.now() - 3_600_000 * 48).toISOString().slice(0, 10)}`, []],
    ] as const) {
      await search.fill(words);
      await eventually(`${words} shows ${ids}`, async () => {
        const found = await page.evaluate(IDS);
        return JSON.stringify(found) === JSON.stringify(ids);
      });
    }
    await search.fill('');
    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.getByRole('combobox', { name: 'Order of the runs' }).selectOption('cost');
    await eventually('failed runs, the dearest first', async () => {
      const [first, ...others] = (await page.evaluate(IDS)) as readonly string[];
      return first === 'busy' && others.includes('sweep') && others.includes('deploy');
    });
    // The address has it all. A run that the filter hides is marked, too.
    expect(new URL(page.url()).search).toBe('?show=failed&sort=cost');
    await goTo(page, '#/runs/triage-1/graph');
    await page.getByText('The filter does not show this run:').waitFor();
    await page.locator('a.run-row[aria-current=page]', { hasText: 'Login fails' }).waitFor();
    await page.reload();
    await page.getByText('The filter does not show this run:').waitFor();
    expect(new URL(page.url()).search).toBe('?show=failed&sort=cost');
    await page.getByRole('button', { name: /^Stopped/ }).click();
    await page.locator('a.run-row', { hasText: 'stopped: iterations' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('one of 300 runs of a workflow is found by its input, its result and its id', async () => {
    const many = new Project(OPERATOR_FLOWS);
    writeTriagedRuns(many.folder, many.path('triage'), 300);
    const own = await startServe((args) => many.start(args));
    const { page, faults, context } = await openPage(browser, own.address);
    await page.getByText('300 runs', { exact: true }).first().waitFor();
    // A row says what the run is for, and what came of it.
    const row = page.locator('a.run-row', { hasText: 'Issue 7: export drops row 7' });
    const search = page.getByRole('searchbox', { name: /^Find runs/ });
    for (const [words, found] of [
      ['issue 137:', 1],
      ['export team-29', 11],
      ['issue team-299', 1],
      ['triage-1031', 1],
    ] as const) {
      await search.fill(words);
      await page.getByText(`${found} run${found === 1 ? '' : 's'}`, { exact: true }).waitFor();
    }
    await row.getByText('Assigned to team-7').waitFor();
    await row.click();
    await page.locator('.run-head').getByText('Issue 7: export drops row 7').waitFor();
    await page.locator('.run-head').getByText('Assigned to team-7').waitFor();
    // Without words, the list begins with 60 runs. One in its middle has a place above them.
    await goTo(page, `#/runs/triage-${(4096 + 150 * 7).toString(16)}/graph`);
    await search.fill('');
    await page.getByText('Further down in the list:').waitFor();
    await page.locator('a.run-row[aria-current=page]', { hasText: 'row 150' }).waitFor();
    expect(await page.locator('a.run-row').count()).toBe(61);
    for (let more = 0; more < 4; more += 1)
      await page.getByRole('button', { name: 'Show more of 300 runs' }).click();
    await page.getByText('Further down in the list:').waitFor({ state: 'detached' });
    await page.locator('a.run-row[aria-current=page]', { hasText: 'row 150' }).waitFor();
    expect(await page.locator('a.run-row').count()).toBe(300);
    expect(faults).toEqual([]);
    await context.close();
    await own.kill('SIGKILL');
    await many.dispose();
  });

  test('a completed run says that agents failed, and leads to each of them', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/sweep/graph');
    await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
    await page.locator('.run-head .pill', { hasText: '4 failed' }).waitFor();
    await page.locator('a.run-row[aria-current=page] b', { hasText: '4 failed' }).waitFor();
    for (const text of ['All packages', '4 of 8 packages are good.'])
      await page.locator('.run-head').getByText(text).waitFor();
    await page.getByText('4 agents failed').click();
    for (const name of ['mail', 'search', 'web', 'api'])
      await page.getByRole('button', { name: new RegExp(`\\(${name}\\)`) }).waitFor();
    await page.getByRole('button', { name: /\(web\)/ }).click();
    await page.getByRole('complementary').getByText('npm ERR! web: 3 tests fail').first().waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a resume that would do nothing says so, and proposes more than was used', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/loop/log');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel('Most steps');
    await expect.poll(() => field.inputValue()).toBe('6');
    await field.fill('3');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await dialog
      .getByText('The run has started 3 states, so it would stop again at once.')
      .waitFor();
    await field.fill('5');
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('The run continues.').waitFor();
    await eventually('it has made more steps', () =>
      project
        .journal('loop')
        .some((event) => event.type === 'step-started' && 'step' in event && event.step === 5),
    );
    // What was said about this run stays with it.
    await goTo(page, '#/runs/deploy/log');
    await page.getByText('The run continues.').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a reader stays where they read, and can jump to the latest', async () => {
    await project.run(['slow', '--detach', '--workflow-id', 'slow']);
    const viewport = { width: 1360, height: 420 };
    const { page, faults, context } = await openPage(browser, served.address, { viewport });
    await goTo(page, '#/runs/slow/graph?agent=main');
    const panel = page.getByRole('complementary', { name: 'Agent main' });
    await panel.getByText('line 200').waitFor();
    const jump = panel.getByRole('button', { name: 'Jump to the latest' });
    // Time grows while the step runs.
    const worked = page.locator('.run-head .facts div', { hasText: 'Worked' });
    const before = await worked.textContent();
    await eventually('the time grows', async () => (await worked.textContent()) !== before);
    // It follows, also inside of the output.
    await eventually('the last line is visible', () => page.evaluate(AT_END));
    expect(await jump.count()).toBe(0);
    await page.evaluate(`document.querySelector('.panel .body').scrollTop = 0`);
    await jump.waitFor();
    await jump.click();
    await jump.waitFor({ state: 'detached' });
    // The next step begins. The reader is not moved.
    project.write('finish', '');
    await panel.getByRole('button', { name: 'Newest step' }).waitFor();
    await panel.getByText('Step 1 of 2').waitFor();
    await panel.getByRole('button', { name: 'Newest step' }).click();
    await panel.getByText('Step 2 of 2').waitFor();
    // The operator speaks to the agent, and sees what becomes of it. The words are shown as text.
    await panel.getByLabel('Say something to main').fill(`use the old API ${EVIL}`);
    await panel.getByRole('button', { name: 'Say' }).click();
    await page.getByText('main gets it before its next prompt.').waitFor();
    await panel.getByText(`use the old API ${EVIL}`).waitFor();
    project.write('finish-2', '');
    await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('Escape returns the focus to what opened the panel', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/busy/agents');
    const row = page.locator('.agent-row').nth(4);
    await row.focus();
    const address = await row.getAttribute('href');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(address);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the log can be limited to an agent and to a kind, and hides details', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/sweep/log');
    const lines = page.locator('.log li');
    await page.getByText(/^sweep completed/).waitFor();
    const all = await lines.count();
    expect(await page.getByText(/^CHECK\.sh starts$/).count()).toBe(0);
    await page.getByText('Details').click();
    await page.getByText('CHECK.sh starts').first().waitFor();
    await page.getByText('Details').click();
    await page.getByRole('button', { name: 'Problems' }).click();
    await page.getByText(/^sweep completed/).waitFor({ state: 'detached' });
    expect(await lines.count()).toBeLessThan(all);
    await lines.getByText('npm ERR! mail').first().waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).last().click();
    const agents = page.getByRole('combobox', { name: 'Lines of which agent' });
    await agents.selectOption('main');
    await eventually('only lines of main', async () => {
      const who = await lines.locator('button').allTextContents();
      return who.length > 0 && who.every((name) => name === 'main');
    });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a phone has no control outside of the screen', async () => {
    const { page, faults, context } = await openPage(browser, served.address, {
      ...{ viewport: PHONE, hasTouch: true },
    });
    await page.locator('a.run-row').first().waitFor();
    expect(await page.locator('main h1').count()).toBe(1);
    for (const place of PLACES) {
      await goTo(page, place);
      await page.locator('main h1, .panel h2').first().waitFor();
      const busy = page.locator('[aria-busy=true]');
      await eventually('the place has its answers', async () => (await busy.count()) === 0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      expect({ place, outside: await page.evaluate(OUTSIDE) }).toEqual({ place, outside: [] });
      expect({ place, wide: await page.evaluate(SIDEWAYS) }).toEqual({ place, wide: [] });
    }
    expect(faults).toEqual([]);
    await context.close();
  });

  test('hostile texts stay texts in questions, choices, inputs and the title', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/evil/graph');
    const card = page.locator('.card.ask');
    await card.locator('td', { hasText: '<img src=x' }).waitFor();
    await card.getByRole('button', { name: '<img src=x' }).click();
    expect(await card.getByRole('textbox').inputValue()).toBe(EVIL);
    await page.locator('.run-head', { hasText: EVIL }).waitFor();
    for (const hidden of ['\u202e', '\u001b'])
      expect(await page.locator('body').textContent()).not.toContain(hidden);
    await goTo(page, `#/runs/${encodeURIComponent(EVIL)}/log`);
    await page.getByRole('alert').waitFor();
    await page.getByRole('searchbox', { name: /^Find runs/ }).fill(EVIL);
    expect(await page.locator('main img, nav img').count()).toBe(0);
    expect(await page.title()).toContain('garden');
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
    await context.close();
  });

  test('one notice after the end of the server, on every place', async () => {
    const own = await startServe(start);
    const { page, context } = await openPage(browser, own.address);
    await goTo(page, '#/runs/deploy/agents?agent=main');
    await page.getByRole('complementary').waitFor();
    await own.kill('SIGKILL');
    await page.getByText('The page has lost the server.').waitFor();
    for (const place of ['#/runs/deploy/log', '#/', '#/waiting']) {
      await goTo(page, place);
      await page.getByText('The page has lost the server.').waitFor();
      expect(await page.locator('.connection').count()).toBe(1);
    }
    expect(placeIn(page)).toBe('#/waiting');
    await context.close();
  });
});

const IDS = `[...document.querySelectorAll('a.run-row')].map((row) => row.hash.split('/')[2])`;

/** Whether the output and the panel are at their ends. */
const AT_END = `['.panel .block', '.panel .body'].map((one) => [...document.querySelectorAll(one)].at(-1))
  .every((box) => box.scrollTop > 0 && box.scrollTop + box.clientHeight > box.scrollHeight - 24)`;

/** Questions of which a part is hidden. */
const CUT = `[...document.querySelectorAll('.card .words')]
  .filter((box) => box.scrollHeight > box.clientHeight + 1).map((box) => box.textContent)`;

const PLACES = [
  '#/',
  '#/waiting',
  '#/workflows',
  '#/workflows?workflow=triage',
  '#/overview',
  '#/projects',
  '#/compare?a=sweep&b=deploy',
  ...['graph', 'timeline', 'agents', 'states', 'log', 'steps', 'changes'].map(
    (tab) => `#/runs/busy/${tab}`,
  ),
  '#/runs/migrate/graph',
  '#/runs/sweep/agents?agent=main',
];
