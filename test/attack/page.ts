/** Pages of others on this machine, against the page of `raymond serve` in the same browser. */
import { existsSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';
import { browserPath, launchBrowser } from '../browser/browser.ts';
import { type HostilePage, hostilePage, TRICKS, tryTrick } from '../browser/hostile-page.ts';
import { eventually } from '../eventually.ts';
import { type Served, served } from '../serve/served.ts';
import type { Attack, Scene } from './attack.ts';

const NAMES = ['127.0.0.1', 'localhost'];

/** The suite plays the same tricks and their controls in serve-page-token.test.ts. */
export const PAGE: readonly Attack[] =
  browserPath === undefined
    ? []
    : [
        {
          isSlow: true,
          name: 'a server on another port sends what the browser gives it to raymond serve',
          expected: 'it did not run',
          files: pay,
          play: (scene) =>
            inBrowser(scene, async ({ server, hostile, context }) => {
              const page = await context.newPage();
              for (const host of NAMES) await page.goto(hostile.at(host));
              const cookies = ['none=', ...hostile.cookies];
              for (const cookie of cookies) await startWith(scene, server, { cookie });
              return scene.ran();
            }),
        },
        ...NAMES.map(
          (host): Attack => ({
            isSlow: true,
            name: `a page on another port of ${host} starts and reads runs`,
            expected: 'nothing started, nothing read',
            files: pay,
            play: (scene) =>
              inBrowser(scene, async ({ server, hostile, context }) => {
                const read: string[] = [];
                const page = await context.newPage();
                for (const [name, trick] of Object.entries(TRICKS)) {
                  const text = await tryTrick(page, hostile.at(host), server.origin, trick);
                  if (text !== '') read.push(`${name}: ${text}`);
                }
                const { body } = await server.get('/api/runs');
                const isOne = JSON.stringify(body).split('"id":').length === 2;
                const started = isOne && !existsSync(scene.mark) ? 'nothing started' : 'started';
                return `${started}, ${read.join('; ') || 'nothing read'}`;
              }),
          }),
        ),
        {
          isSlow: true,
          name: 'control: the same request with the token',
          expected: 'it ran',
          files: pay,
          play: (scene) =>
            inBrowser(scene, async ({ server }) => {
              await startWith(scene, server, { authorization: `Bearer ${server.token}` });
              return scene.ran();
            }),
        },
      ];

function pay({ mark }: Scene) {
  return {
    'seen/START.sh': `echo '<result>a secret</result>'`,
    'pay/START.sh': `touch '${mark}'\necho '<result>paid</result>'`,
  };
}

interface Stage {
  readonly server: Served;
  readonly hostile: HostilePage;
  /** The user has the page open in it. */
  readonly context: BrowserContext;
}

async function inBrowser(
  { project }: Scene,
  act: (stage: Stage) => Promise<string>,
): Promise<string> {
  await project.run(['seen', '--workflow-id', 'seen']);
  const [server, hostile, browser] = await Promise.all([
    served(project),
    hostilePage(),
    launchBrowser(browserPath ?? ''),
  ]);
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.origin}/#token=${server.token}`);
    await page.getByRole('link', { name: /seen/ }).waitFor();
    return await act({ server, hostile, context });
  } finally {
    await Promise.all([browser.close(), hostile.close()]);
  }
}

/** As a program without a browser would send it, with the right Host and Origin. */
async function startWith(
  scene: Scene,
  { origin }: Served,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const { status } = await fetch(`${origin}/api/runs`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ workflow: 'pay' }),
  });
  if (status === 201) await eventually('the run acts', () => scene.ran() === 'it ran');
}
