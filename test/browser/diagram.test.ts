import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toHtml } from '../../src/draw/html.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { overlayOf } from '../../src/graph/overlay.ts';
import { play, type Script, scriptedWorkflow } from '../../src/testing.ts';
import { browserPath, launchBrowser } from './browser.ts';

const artefacts = fileURLToPath(new URL('../artefacts/', import.meta.url));

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((e) => `  - ${e}\n`).join('')}---\n`;

/** Prompts, a script, a call, forks and a question; one prompt tries to break out of the page. */
const script: Script = {
  START: {
    text: `${policy('{tag: call, target: PLAN, return: BUILD}')}Read the issue. </script><img src=x onerror="document.title='broken'">`,
    answers: ['done'],
  },
  PLAN: { text: `${policy('{tag: result}')}Write a plan.`, answers: ['<result>a plan</result>'] },
  'BUILD.sh': {
    text: `echo '<fork next="REVIEW" item="1">WORKER</fork>'\n`,
    answers: ['<fork next="REVIEW" item="1">WORKER</fork>'],
  },
  WORKER: { text: `${policy('{tag: result}')}Do {{item}}.`, answers: ['<result>ok</result>'] },
  REVIEW: {
    text: `${policy('{tag: ask, next: END}', '{tag: reset, target: BUILD.sh}')}Is it good? {{result}}`,
    answers: ['<ask next="END">Ship it?</ask>'],
  },
  END: {
    text: `${policy('{tag: result}')}Say goodbye. {{result}}`,
    answers: ['<result>bye</result>'],
  },
};

describe.runIf(browserPath !== undefined)(
  'the page of a diagram in a browser without a network',
  () => {
    let browser: Browser;
    let html: string;
    beforeAll(async () => {
      browser = await launchBrowser(browserPath ?? '');
      const workflow = scriptedWorkflow(script);
      const { events } = await play(script, { answers: ['yes'] });
      html = toHtml(workflow, graphOf(workflow), overlayOf(events));
      mkdirSync(artefacts, { recursive: true });
    });
    afterAll(() => browser?.close());

    test.each(['light', 'dark'] as const)(
      'draws the graph and shows a clicked state, %s',
      async (colorScheme) => {
        const context = await browser.newContext({
          offline: true,
          colorScheme,
          viewport: { width: 1200, height: 800 },
        });
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error' || message.type() === 'warning')
            complaints.push(message.text());
        });
        page.on('pageerror', (error) => complaints.push(String(error)));
        page.on('request', (request) => {
          if (!request.url().startsWith('data:') && !request.url().startsWith('about:'))
            complaints.push(request.url());
        });
        await page.setContent(html);

        expect(await page.locator('svg').count()).toBeGreaterThan(0);
        for (const name of ['START', 'PLAN', 'BUILD', 'WORKER', 'REVIEW', 'END']) {
          expect(
            await page.locator('svg').getByText(name, { exact: true }).count(),
            name,
          ).toBeGreaterThan(0);
        }
        await expect.poll(() => page.getByText('Say goodbye.').isVisible()).toBe(false);
        await page.locator('svg').getByText('END', { exact: true }).first().click();
        await expect.poll(() => page.getByText('Say goodbye.').isVisible()).toBe(true);
        expect(await page.title()).not.toBe('broken');
        expect(complaints).toEqual([]);

        const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        const [red = 0] = String(background).match(/\d+/g)?.map(Number) ?? [];
        expect(red > 128).toBe(colorScheme === 'light');
        await page.screenshot({ path: `${artefacts}diagram-${colorScheme}.png` });
        await context.close();
      },
    );
  },
);
