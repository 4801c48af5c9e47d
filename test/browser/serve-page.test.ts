/** The page of `raymond serve`: what a person sees and does with live runs of real scripts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { Project } from '../raymond.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, openPage, PHONE, placeIn, type Served, startServe } from './served-page.ts';

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

/** A script that says what it does, and waits for a file. */
const waiting = (file: string, tag: string) =>
  `echo "waiting for ${file}" >&2\nwhile [ ! -e ${file} ]; do sleep 0.05; done\necho '${tag}'\n`;

const WORKFLOWS = {
  'live/START.sh': waiting('go-$RAYMOND_WORKFLOW_ID', '<goto>ASK</goto>'),
  'live/ASK.sh': `echo '<ask next="DONE">Which colour?</ask>'\n`,
  'live/workflow.yaml': [
    'name: Paint it',
    'description: Asks for a colour, and paints with it.',
    'input: { label: What to paint, required: true }',
    'default_budget: 2',
  ].join('\n'),
  'live/DONE.sh': `echo "<result>painted $RAYMOND_INPUT</result>"\n`,
  'quick/START.sh': `if [ -e hold ]; then echo '<ask next="NEXT">Go on?</ask>'; else echo '<goto>NEXT</goto>'; fi\n`,
  'quick/NEXT.sh': `echo '<result>quick</result>'\n`,
  'files/START.sh': `echo 'All <b>is</b> well.' >report.html
printf '\\211PNG\\r\\n\\032\\n' >plot.png
echo '<ask next="NEXT" files="report.html,plot.png">Send the form.</ask>'\n`,
  'files/NEXT.sh': `echo "<result>got $(cat "$RAYMOND_ANSWER_FILES")</result>"\n`,
  'slow/START.sh': waiting('finish', '<result>slow and done</result>'),
};

describe.runIf(browserPath !== undefined)('the page of raymond serve', LONG, () => {
  let browser: Browser;
  let project: Project;
  let served: Served;
  const start = (args: readonly string[]) => project.start(args);
  beforeAll(async () => {
    project = new Project(WORKFLOWS);
    [browser, served] = await Promise.all([launchBrowser(browserPath ?? ''), startServe(start)]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await project?.dispose();
  });

  test('starts a run, follows it, answers its question and shows its result', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
    expect(placeIn(page)).toBe('#/');

    await page.keyboard.press('n');
    await page.getByRole('link', { name: /^slow/ }).waitFor();
    expect(placeIn(page)).toBe('#/workflows');
    await page.keyboard.type('paint');
    await page.getByRole('link', { name: /^slow/ }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^Paint it/ }).click();
    const panel = page.getByRole('complementary', { name: 'Workflow live' });
    await panel.getByText('Asks for a colour, and paints with it.').waitFor();
    await panel.getByText(/A forecast needs 3 completed runs .* there is none yet/).waitFor();
    await panel.getByText('Empty: $2.00, as the workflow says.').waitFor();
    await panel.getByRole('textbox', { name: 'What to paint' }).fill('the fence');
    await panel.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { name: 'live', level: 1 }).waitFor();
    await page.getByText('of $2.00').waitFor();
    const run = runIn(page);
    await page
      .locator('.agent.tone-run title', { hasText: 'main: running' })
      .waitFor({ state: 'attached' });
    await page.getByRole('button', { name: /^START/ }).waitFor();

    project.write(`go-${run}`, '');
    await page.getByText('Which colour?').waitFor();
    await page.getByRole('link', { name: /waiting for you/ }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.type('dark blue');
    await page.keyboard.press('Control+Enter');
    await pill(page, 'completed').waitFor();

    await page.keyboard.press('3');
    await page.getByRole('link', { name: /main/ }).last().click();
    await page.getByText('painted dark blue').first().waitFor();
    await page.getByLabel('Earlier step').click();
    await page.getByText('Which colour?').first().waitFor();
    expect(placeIn(page)).toBe(`#/runs/${run}/agents?agent=main&step=2`);
    expect(project.journal(run).filter(({ type }) => type === 'agent-answered')).toMatchObject([
      { text: 'dark blue' },
    ]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows the files of a question as text, and sends some with the answer', async () => {
    await project.run(['files', '--workflow-id', 'files-1', '--max-files-mib', '1']);
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/files-1');
    const shown = page.getByRole('list', { name: 'Files of the question' });
    await shown.getByText('report.html 20 bytes').click();
    await shown.getByText('All <b>is</b> well.').waitFor();
    await shown.getByText('plot.png 8 bytes').click();
    await shown.locator('img[src^="data:image/png"]').waitFor({ state: 'attached' });
    const saved = page.waitForEvent('download');
    await shown.getByRole('button', { name: 'Save' }).first().click();
    expect((await saved).suggestedFilename()).toBe('report.html');

    const field = page.getByLabel(/^Files, at most 20 with 1 MiB together/);
    await field.setInputFiles({
      ...{ name: 'large.bin', mimeType: 'text/plain', buffer: Buffer.alloc(1_100_000) },
    });
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('The files have 1 MiB, which is too much.').waitFor();
    await field.setInputFiles({
      ...{ name: 'form.txt', mimeType: 'text/plain', buffer: Buffer.from('the form') },
    });
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await page.getByText('The answer for main is stored.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
    expect((await project.run(['resume', 'files-1'])).stdout).toBe('got the form\n');
  });

  test('streams the output of a step, stops the run, and resumes it', async () => {
    await project.run(['slow', '--detach', '--workflow-id', 'slow-1']);
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/slow-1/log?agent=main&step=1');
    await page.getByText('waiting for finish').waitFor();
    await page.getByText('The agent is working.').waitFor();

    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('menuitem', { name: /Stop now/ }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByText('stop requested: running steps are stopped').waitFor();
    await pill(page, 'stopped by you').waitFor();

    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByLabel('Budget in $').fill('7.5');
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('of $7.50').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
    project.write('finish', '');
    await pill(page, 'completed').waitFor();
    await page.getByText(/^slow-1 completed \(/).waitFor();
    const numbers = project.journal('slow-1').map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(faults).toEqual([]);
    await context.close();
  });

  test('says that the server is gone, not the agent, and continues when it is back', async () => {
    const own = await startServe(start);
    await project.run(['live', '--detach', '--workflow-id', 'live-2', '--input', 'x']);
    const { page, context } = await openPage(browser, own.address);
    await goTo(page, '#/runs/live-2/log');
    await page.getByText('live-2 starts').waitFor();
    // A page that never got the list of runs.
    const early = await context.newPage();
    const body = 'event: none\ndata: 0\n\n';
    await early.route('**/api/changes*', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body }),
    );
    await early.goto(own.address);
    await early.getByText('The page has lost the server.').waitFor();

    await own.kill('SIGKILL');
    await early.unroute('**/api/changes*');
    await page.getByText('The page has lost the server.').waitFor();
    project.write('go-live-2', '');
    await eventually('the run continues without the server', () =>
      project.journal('live-2').some(({ type }) => type === 'agent-asked'),
    );
    const next = await startServe(start, own.port);
    const notice = page.getByText('raymond serve was started again');
    await notice.waitFor();
    expect(await page.locator('.notice').count()).toBe(1);
    await early.getByText('raymond serve was started again').waitFor();
    // A person opens the new address in the tab that shows the page: only the fragment changes.
    await goTo(page, new URL(next.address).hash);
    await page.locator('.log', { hasText: 'Which colour?' }).waitFor();
    await notice.waitFor({ state: 'detached' });
    expect(placeIn(page)).toBe('#/runs/live-2/log');
    const lines = await page.locator('.log .told').allTextContents();
    expect(lines.map((line) => line.replace(/\([\d.]+ (?:s|min.*)\)/, '(1 s)'))).toEqual([
      `live-2 starts: ${project.path('live')} at START.sh (budget $2.00)`,
      'START.sh -> goto ASK.sh (1 s)',
      'ASK.sh -> ask (1 s): Which colour?',
    ]);
    await context.close();
    await next.kill('SIGKILL');
  });

  test('filters runs, has links for every place, and can be used with keys alone', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByRole('link', { name: /slow-1/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('slow');
    await rowOf(page, /live-2(?!\w)/).waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'slow', level: 1 }).waitFor();
    await page.keyboard.press('4');
    await page.getByRole('columnheader', { name: 'Visits' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Colours: system/ }).click();
    await page.getByRole('button', { name: /^Colours: light/ }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.keyboard.press('2');
    await page.getByRole('application', { name: /Timeline/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Agent main' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await goTo(page, '#/runs/there-is-none');
    await page.getByRole('alert').getByRole('heading').waitFor();
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
    await context.close();
  });

  test('shows what a run usually takes, what it still needs, and what a workflow takes', async () => {
    for (const id of ['q1', 'q2', 'q3']) await project.run(['quick', '--workflow-id', id]);
    project.write('hold', '');
    await project.run(['quick', '--workflow-id', 'q4']);
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/runs/q4/graph');
    const facts = page.locator('.run-head .facts');
    await facts.getByText('Usually').waitFor();
    await facts.getByText('Still needs about').waitFor();
    // The run has not been there yet.
    await page
      .getByRole('button', { name: /^NEXT/ })
      .getByText(/^usually \d/)
      .waitFor();
    await page.getByRole('button', { name: 'usual time' }).click();
    await page.locator('.node', { hasText: 'NEXT' }).locator('.heat').waitFor();
    await page.getByRole('button', { name: /^NEXT/ }).click();
    await page.getByText('1 visit, in 3 of 3 completed runs').waitFor();
    await goTo(page, '#/runs/q4/states');
    await page.getByRole('columnheader', { name: 'Usually' }).waitFor();
    await page.getByText('the middle of 3 completed runs with the same files').waitFor();
    await goTo(page, '#/runs/q1/states');
    await page.getByRole('heading', { name: 'quick', level: 1 }).waitFor();
    await page.getByRole('columnheader', { name: 'Usually' }).waitFor();
    expect(await page.getByText('Still needs about').count()).toBe(0);
    await goTo(page, '#/workflows?workflow=quick');
    await page.getByText(/Half of 3 completed runs used/).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('starts a workflow by its path, and says why it cannot', async () => {
    project.write('deep/down/under/it/START.sh', `echo '<result>deep</result>'\n`);
    project.write('archive.zip', 'not an archive');
    project.write('broken/START.md', '---\nallowed_transitions: 5\n---\nx');
    const { page, faults, context } = await openPage(browser, served.address);
    await goTo(page, '#/workflows');
    await page.getByRole('link', { name: /^archive/ }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: /^broken/ }).click();
    await page.getByRole('alert').getByText('raymond lint broken').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('The workflow broken has errors.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: /workflows/ }).fill('../elsewhere');
    await page.getByRole('link', { name: 'Choose ../elsewhere' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText(/is not in this project/).waitFor();
    await page.getByRole('searchbox', { name: /workflows/ }).fill('deep/down/under/it');
    await page.getByRole('link', { name: 'Choose deep/down' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await pill(page, 'completed').waitFor();
    expect(faults.filter((fault) => !/status of (403|422)/.test(fault))).toEqual([]);
    await context.close();
  });

  test('leaves no stream open behind it, however fast a person goes through the runs', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByRole('link', { name: /slow-1/ }).waitFor();
    const open = new Set<string>();
    page.on('request', (request) => {
      if (request.url().includes('/changes')) open.add(request.url());
    });
    page.on('requestfailed', (request) => open.delete(request.url()));
    page.on('requestfinished', (request) => open.delete(request.url()));
    // Without a frame in between.
    await page.evaluate(`(async () => {
      for (const run of ['q1', 'q2', 'q3', 'q4', 'q1', 'q2', 'q3', 'q4']) {
        location.hash = '#/runs/' + run + '/log';
        await new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
      }
    })()`);
    await page.locator('.log', { hasText: 'Go on?' }).waitFor();
    await eventually('one stream is open', () => open.size === 1);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('shows the warnings of a start beside the run until they are closed, as text', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    const hostile = [
      '<img src=x onerror="alert(1)">',
      'deny\u202e\u001b[31m it\nand more',
      'x'.repeat(50_000),
      ...Array.from({ length: 40 }, (_, index) => `warning ${index}`),
    ];
    await page.route('**/api/runs/q4/resume', async (route) => {
      const body = { id: 'q4', warnings: hostile };
      await route.fulfill({ status: 200, contentType: 'application/json', json: body });
    });
    await goTo(page, '#/workflows?workflow=quick');
    await page.getByText('Rehearse').click();
    await page.getByRole('button', { name: 'Start' }).click();
    const warnings = page.getByRole('status', { name: 'Warnings' });
    await warnings.getByText('Rehearsal: Raymond calls no model').waitFor();
    await pill(page, 'completed').waitFor();
    // It belongs to that run, and is there again when the person comes back.
    const place = placeIn(page);
    await goTo(page, '#/runs/q4/log');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await warnings.getByText('<img src=x onerror="alert(1)">').waitFor();
    await warnings.getByText('23 more').waitFor();
    for (const hidden of ['\u202e', '\u001b'])
      expect(await warnings.textContent()).not.toContain(hidden);
    expect(await warnings.getByText('Rehearsal').count()).toBe(0);
    const { height } = (await warnings.boundingBox()) ?? { height: 0 };
    expect(height).toBeLessThan(400);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.getByRole('button', { name: 'Close the warnings' }).click();
    await warnings.getByText('warning 1').waitFor({ state: 'detached' });
    await goTo(page, place);
    await warnings.getByText('Rehearsal: Raymond calls no model').waitFor();
    await page.getByRole('button', { name: 'Close the warnings' }).press('Enter');
    await warnings.getByText('Rehearsal').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('an idle page asks for nothing, and runs of other processes appear without a request', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(served.address);
    await page.getByRole('link', { name: /slow-1/ }).waitFor();
    const other = await context.newPage();
    await other.goto(served.address);
    await other.getByRole('link', { name: /slow-1/ }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.clock.runFor(30_000);
    await project.run(['quick', '--workflow-id', 'elsewhere']);
    await rowOf(page, /elsewhere/).waitFor();
    await rowOf(other, /elsewhere/).waitFor();
    await project.run(['prune', 'elsewhere']);
    await rowOf(page, /elsewhere/).waitFor({ state: 'detached' });
    expect(asked).toEqual([]);
    await context.close();
  });

  test('a phone shows the list, then the run, then the agent', async () => {
    const { page, faults, context } = await openPage(browser, served.address, {
      viewport: PHONE,
      hasTouch: true,
    });
    await page.getByRole('link', { name: /slow-1/ }).tap();
    await page.getByRole('link', { name: 'Agents' }).tap();
    await page.getByRole('link', { name: /main/ }).last().tap();
    await page.getByRole('complementary').getByText('slow and done').first().waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(PHONE.width);
    await page.getByLabel('Close the panel').tap();
    await page.getByLabel('Back to all runs').tap();
    await rowOf(page, /live-2(?!\w)/).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

/** A card of what waits for a person also leads to the run. */
const rowOf = (page: Page, id: RegExp) => page.locator('a.run-row', { hasText: id });

const pill = (page: Page, text: string) => page.locator('.run-head .pill', { hasText: text });

const runIn = (page: Page) => /^#\/runs\/([^/]+)\//.exec(placeIn(page))?.[1] ?? '';
