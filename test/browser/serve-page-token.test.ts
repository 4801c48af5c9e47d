/** The token of the page of `raymond serve`: where it is, and that no page of another port gets it. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { Project } from '../raymond.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { type HostilePage, hostilePage, TRICKS, tryTrick } from './hostile-page.ts';
import { goTo, openIn, openPage, placeIn, type Served, startServe } from './served-page.ts';

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

describe.runIf(browserPath !== undefined)('the token of the page', LONG, () => {
  let browser: Browser;
  let project: Project;
  let served: Served;
  const start = (args: readonly string[]) => project.start(args);
  const origin = () => new URL(served.address).origin;
  const token = () => new URL(served.address).hash.replace('#token=', '');
  beforeAll(async () => {
    project = new Project({
      'seen/START.sh': `echo '<ask next="START">A secret question?</ask>'`,
      'pay/START.sh': `echo '<result>paid</result>'`,
    });
    await project.run(['seen', '--workflow-id', 'seen']);
    [browser, served] = await Promise.all([launchBrowser(browserPath ?? ''), startServe(start)]);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.kill('SIGKILL');
    await project?.dispose();
  });

  test('is in no address, no cookie and no storage that outlives the tab, and survives a reload', async () => {
    const { page, faults, context } = await openPage(
      browser,
      `${served.address}&to=/runs/seen/log`,
    );
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.locator('.log', { hasText: 'A secret question?' }).waitFor();
    expect(placeIn(page)).toBe('#/runs/seen/log');
    await page.reload();
    await page.locator('.log', { hasText: 'A secret question?' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(token());
    expect(await page.content()).not.toContain(token());
    await page.goBack();
    expect(page.url()).toBe('about:blank');
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) expect(address).not.toContain(token());
    expect(faults).toEqual([]);
    await context.close();
  });

  test('goes with a link that the person opens in a new tab, but is not in the link', async () => {
    const { page, faults, context } = await openPage(browser, served.address);
    const link = page.locator('a.run-row', { hasText: 'seen' });
    expect(await link.getAttribute('href')).toBe('#/runs/seen/graph');
    for (const how of [
      { modifiers: ['Control'] },
      { modifiers: ['Shift'] },
      { button: 'middle' },
    ]) {
      const [tab] = await Promise.all([
        context.waitForEvent('page'),
        link.click(how as Parameters<typeof link.click>[0]),
      ]);
      await tab.getByRole('heading', { level: 1, name: 'seen' }).waitFor();
      expect(placeIn(tab)).toBe('#/runs/seen/graph');
      await tab.close();
    }
    expect(placeIn(page)).toBe('#/');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('a tab without one says what to do, sends nothing, and stays at its place when it gets one', async () => {
    const { context } = await openPage(browser, served.address);
    const { page, faults } = await openIn(context, `${origin()}/#/runs/seen/log`);
    const requests = requestsOf(page);
    const alert = page.getByRole('alert');
    await alert.getByText('This tab has no key for the server.').waitFor();
    await alert.getByText('raymond serve printed an address that contains it').waitFor();
    await goTo(page, new URL(served.address).hash);
    await page.locator('.log', { hasText: 'A secret question?' }).waitFor();
    expect(placeIn(page)).toBe('#/runs/seen/log');
    expect(requests.filter((request) => !request.hasToken)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });

  test('is not sent again after the server has refused it', async () => {
    const own = await startServe(start);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(`${own.address}&to=/runs/seen/log`);
    await page.locator('.log', { hasText: 'A secret question?' }).waitFor();
    await own.kill('SIGKILL');
    await page.getByText('The page has lost the server.').waitFor();
    const next = await startServe(start, own.port);
    await page.clock.runFor(10_000);
    await page.getByText('raymond serve was started again').waitFor();
    await page.getByText('Open the new address').waitFor();
    expect(await page.locator('.notice').count()).toBe(1);
    const requests = requestsOf(page);
    await page.clock.runFor(60_000);
    // A reload does not bring it back.
    await page.reload();
    await page.getByRole('alert').getByText('This tab has no key for the server.').waitFor();
    await page.clock.runFor(60_000);
    expect(requests).toEqual([]);
    await goTo(page, new URL(next.address).hash);
    await page.locator('.log', { hasText: 'A secret question?' }).waitFor();
    await context.close();
    await next.kill('SIGKILL');
  });

  // For the gate, both are other origins. Of the same site are only ports of one address.
  describe.each(inSuite(['127.0.0.1'], ['localhost']))('a page on another port of %s', (host) => {
    let context: BrowserContext;
    let page: Page;
    let hostile: HostilePage;
    let other: HostilePage;
    beforeAll(async () => {
      [hostile, other] = await Promise.all([hostilePage(), hostilePage()]);
      const opened = await openPage(browser, served.address);
      context = opened.context;
      await opened.page.locator('a.run-row', { hasText: 'seen' }).waitFor();
      page = await context.newPage();
    });
    afterAll(async () => {
      await context?.close();
      await Promise.all([hostile?.close(), other?.close()]);
    });

    test.each(Object.entries(TRICKS))('%s', async (_name, trick) => {
      expect(await tryTrick(page, hostile.at(host), origin(), trick)).toBe('');
      expect(hostile.cookies).toEqual(new Set());
    });

    // Otherwise a trick could fail because it asks for nothing.
    test.each(Object.entries(TRICKS))('control: %s reaches a server', async (name, trick) => {
      const { origin: target } = new URL(other.at('127.0.0.1'));
      const before = other.asked();
      await tryTrick(page, hostile.at(host), target, trick);
      expect(other.asked() > before).toBe(!ASKS_NOBODY.has(name));
    });

    test('nothing was started', async () => {
      const { stdout } = await project.run(['list', '--json']);
      expect(stdout).toContain('"seen"');
      expect(stdout).not.toContain('pay');
    });
  });

  test.each(['localhost', 'evil.localhost', '0.0.0.0'])(
    'another name of the machine: %s',
    async (name) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const response = await page.goto(`http://${name}:${served.port}/#token=${token()}`);
      expect(response?.status()).toBe(403);
      const body = { method: 'POST', headers: { authorization: `Bearer ${token()}` }, body: '{}' };
      const asked = `fetch('/api/runs', ${JSON.stringify(body)}).then(({ status }) => status)`;
      expect(await page.evaluate(asked)).toBe(403);
      await context.close();
    },
  );
});

/** They look at what the browser has. */
const ASKS_NOBODY = new Set([
  'the storage and the cookies of the address',
  'a channel with the name of the page',
]);

/** The requests to the API from now on. */
function requestsOf(page: Page) {
  const requests: { readonly path: string; readonly hasToken: boolean }[] = [];
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname;
    if (path.startsWith('/api/'))
      requests.push({ path, hasToken: request.headers().authorization !== undefined });
  });
  return requests;
}
