/** The page of `raymond serve` in a real browser, with the built program in a project. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface Served {
  readonly port: number;
  /** The address with the token. */
  readonly address: string;
  /** Ends it with a signal, and waits for its end. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Starts `raymond` with these arguments, in a project. */
type Start = (args: readonly string[]) => { readonly child: ChildProcess };

export async function startServe(start: Start, port = 0): Promise<Served> {
  const { child } = start(['serve', '--port', String(port), '--json']);
  const said = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with code ${code}.`)));
  });
  const { address, port: used }: { address: string; port: number } = JSON.parse(said);
  return {
    address,
    port: used,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

export interface Opened {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page, refused resources and requests to other hosts. Nothing of it may happen. */
  readonly faults: string[];
}

export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  return openIn(context, address);
}

/** Another tab of the same browser. */
export async function openIn(context: BrowserContext, address: string): Promise<Opened> {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const faults: string[] = [];
  const { host } = new URL(address);
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.host !== host) faults.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, context, faults };
}

export const DESKTOP = { width: 1360, height: 860 };
export const PHONE = { width: 390, height: 844 };

/** The place in the page, without the token. */
export const placeIn = (page: Page) => new URL(page.url()).hash;

/** Shows a place without loading the page again. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** Places that one would have to scroll to the side. A table of an agent, code and tabs may. */
export const SIDEWAYS = `[...document.querySelectorAll('main, main *')]
  .filter((one) => one.matches('.scroll, .main, .home, .overview, .compare, .view, .panel .body') && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.className + ' is ' + (one.scrollWidth - one.clientWidth) + ' px too wide')`;

/** Controls whose left or right end is beyond the screen. A row of tabs may scroll. */
export const OUTSIDE = `[...document.querySelectorAll('button, input, textarea, select, a[href], summary')]
  .filter((one) => one.checkVisibility() && !one.closest('.tabs, .visually-hidden, .graph, .scroll-x') && !one.matches('.visually-hidden'))
  .filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
  .map((one) => one.outerHTML.slice(0, 120))`;
