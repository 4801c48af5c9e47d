// Uses the browser that Debian packages, without a network. Without a browser, the tests that need
// one are skipped with a loud message. CI does not accept that.
import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const candidates = [
  process.env.RAYMOND_TEST_BROWSER,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const browserPath = candidates.find(
  (path): path is string => path !== undefined && isProgram(path),
);

if (browserPath === undefined) {
  const message =
    'NO BROWSER FOUND: the tests of the HTML page are skipped. Install chromium, or name a browser in RAYMOND_TEST_BROWSER.';
  if (process.env.CI === 'true') throw new Error(message);
  console.error(`\n${'!'.repeat(message.length)}\n${message}\n${'!'.repeat(message.length)}\n`);
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-quic',
      // Without a graphics processor, each frame of an animation is painted by the one that the tests need.
      '--force-prefers-reduced-motion',
    ],
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
