/** What starts by itself, on the page: what is due, what happened, and a delivery that happens again. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, githubHeaders, type RunningUp, startUp } from '../hooks/up.ts';
import { Project } from '../raymond.ts';
import { axe } from './axe.ts';
import { browserPath, launchBrowser } from './browser.ts';
import {
  goTo,
  OUTSIDE,
  openPage,
  PHONE,
  type Served,
  SIDEWAYS,
  startServe,
} from './served-page.ts';

const artefacts = fileURLToPath(new URL('../artefacts/', import.meta.url));

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

const SECRET = 'the secret of the hook';
const DONE = 'echo "<result>$RAYMOND_INPUT</result>"\n';
const WORKFLOWS = {
  'nightly/workflow.yaml': 'triggers: [{ schedule: "30 3 * * *" }, { schedule: "0 12 * * 1" }]\n',
  'nightly/START.sh': DONE,
  'triage/workflow.yaml':
    'triggers: [{ webhook: issues, secret: HOOK, match: { action: opened } }]\n',
  'triage/START.sh': DONE,
  'letters/workflow.yaml': 'triggers: [{ files: inbox/*.md }]\n',
  'letters/START.sh': DONE,
};

describe.runIf(browserPath !== undefined)('the page of triggers', LONG, () => {
  let browser: Browser;
  let project: Project;
  let served: Served;
  let up: RunningUp;
  beforeAll(async () => {
    mkdirSync(artefacts, { recursive: true });
    project = new Project(WORKFLOWS);
    await project.run(['secret', 'set', 'HOOK'], { input: SECRET });
    for (const name of ['nightly', 'triage']) await project.run(['trust', name, '--yes']);
    up = await startUp(project);
    [browser, served] = await Promise.all([
      launchBrowser(browserPath ?? ''),
      startServe((args) => project.start(args)),
    ]);
    const body = '{"action":"opened"}';
    for (const id of ['7fd1a3', '9be224'])
      await deliver(`${up.address}/hooks/issues`, body, githubHeaders(SECRET, id, body));
  });
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await up?.end('SIGKILL');
    await project?.dispose();
  });

  test('it shows what is due and what happened, and repeats a delivery', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    await page.getByRole('link', { name: 'Triggers' }).click();
    await page.getByRole('heading', { name: 'Due next' }).waitFor();
    await page.getByText('03:30').first().waitFor();
    await page.getByText('It starts nothing. To approve it: raymond trust letters').waitFor();
    const list = page.getByRole('region', { name: 'What happened' });
    await list.getByRole('listitem', { name: 'webhook issues, completed' }).nth(1).waitFor();

    await list.getByRole('button', { name: 'Replay the delivery 7fd1a3' }).click();
    await list.getByText('replay 7fd1a3').waitFor();
    await list.getByRole('listitem', { name: 'webhook issues, completed' }).nth(2).waitFor();
    await page.screenshot({ path: `${artefacts}triggers.png` });
    expect(await axe(page, 'triggers', '')).toEqual([]);

    await list.getByRole('link', { name: 'Run' }).first().click();
    await page.getByRole('heading', { name: 'triage', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'webhook issues, delivery' }).waitFor();
    await page.screenshot({ path: `${artefacts}triggers-run.png` });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('everything fits on a phone', async () => {
    const { page, context } = await openPage(browser, served.address, { viewport: PHONE });
    await goTo(page, '#/triggers');
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    expect(await page.evaluate(SIDEWAYS)).toEqual([]);
    expect(await page.evaluate(OUTSIDE)).toEqual([]);
    await page.screenshot({ path: `${artefacts}triggers-phone.png` });
    await context.close();
  });
});
