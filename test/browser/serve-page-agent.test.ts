/** The page of `raymond serve` with the real agent and a scripted model: permissions and a rewind. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RaymondSandbox, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { axe } from './axe.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { goTo, openPage, PHONE, type Served, SIDEWAYS, startServe } from './served-page.ts';

/** A browser on a busy machine takes its time. */
const LONG = { timeout: 240_000 };

const EVIL = `<img src=x onerror="document.title='broken'">`;

describe.runIf(browserPath !== undefined)(
  'the page of raymond serve with the real agent',
  LONG,
  () => {
    let browser: Browser;
    let sandbox: RaymondSandbox;
    let served: Served;
    beforeAll(async () => {
      sandbox = await raymondSandbox({
        age: 'newer',
        workflow: {
          'START.md': '---\nmodel: [sonnet, opus]\n---\nMake two files.',
          'NEXT.md': 'Say goodbye.',
        },
        script: [
          {
            content: [
              { type: 'text', text: `I make **one**. ${EVIL}` },
              { type: 'tool_use', name: 'Bash', input: { command: 'curl --version >>made-one' } },
            ],
          },
          {
            content: [
              { type: 'tool_use', name: 'Bash', input: { command: 'curl --version >>made-two' } },
            ],
          },
          'Only one. <goto>NEXT</goto>',
          '<result>goodbye</result>',
        ],
      });
      execFileSync('git', ['init', '-q'], { cwd: sandbox.claude.work });
      [browser, served] = await Promise.all([
        launchBrowser(browserPath ?? ''),
        startServe((args) => sandbox.start(...args)),
      ]);
    }, LONG.timeout);
    afterAll(async () => {
      await browser?.close();
      await served?.kill('SIGKILL');
      await sandbox?.run('stop', 'r', '--now');
      await sandbox?.remove();
    });

    test('allows one tool call, denies another, and rewinds the run', async () => {
      await sandbox.run(
        'workflow',
        '--detach',
        '--workflow-id',
        'r',
        '--ask-permissions',
        '--wait',
      );
      const { page, faults, context } = await openPage(browser, served.address);
      await goTo(page, '#/runs/r/graph?agent=main&step=1');
      await page.getByText('curl --version >>made-one').first().waitFor();
      await page.locator('.pill', { hasText: 'asks permission' }).waitFor();
      await page.getByText('The agent waits for your decision.').waitFor();
      await page.locator('.graph .agent.tone-wait').waitFor();
      // A state with several lanes says which one has taken it.
      await page.locator('.step-head', { hasText: 'by claude sonnet' }).waitFor();
      // The cost of the step grows before it ends, and each answer of the model says what it used.
      await page
        .locator('.run-head .facts')
        .getByText(/~\$0\.\d+ of/)
        .waitFor();
      await page
        .getByText(/^[\d,]+ tokens read, [\d,]+ written · ~\$/)
        .first()
        .waitFor();
      expect(existsSync(sandbox.file('made-one'))).toBe(false);
      // The words of the agent are markdown, and its tags are text.
      await page.locator('.markdown strong', { hasText: 'one' }).waitFor();
      await page.locator('.markdown', { hasText: EVIL }).waitFor();
      await page.getByRole('button', { name: 'Allow', exact: true }).click();

      const second = page.locator('.card.permission', { hasText: 'curl --version >>made-two' });
      await second.getByRole('textbox').fill('not on main');
      expect(existsSync(sandbox.file('made-one'))).toBe(true);
      await second.getByRole('button', { name: 'Deny' }).click();
      await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
      expect(existsSync(sandbox.file('made-two'))).toBe(false);
      // A call says how long it took, and what became of it. A tag is shown as what it does.
      const calls = page.locator('.step .tool > summary');
      await calls.filter({ hasText: /made-one.*\d s.*done/ }).waitFor();
      await calls.filter({ hasText: /made-two.*denied/ }).waitFor();
      await page.locator('.step .tag', { hasText: 'goes to' }).waitFor();
      expect(JSON.stringify(sandbox.model.requests.at(-2)?.messages)).toContain('not on main');

      await goTo(page, '#/runs/r/log?agent=main&step=2');
      await page.getByRole('button', { name: 'Rewind to before this step' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('1 step of main, from step 2 (NEXT.md), no longer count').waitFor();
      await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
      await page.getByText('goes back to the moment before main:2').waitFor();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(sandbox.journal('r').filter(({ type }) => type === 'run-rewound')).toHaveLength(1);

      await page.getByText('The run went back to before step 2 of main').waitFor();
      await page.getByRole('button', { name: 'Undo the rewind' }).click();
      await dialog.getByText('1 step from step 2 of main on counts again.').waitFor();
      await dialog.getByRole('button', { name: 'Undo the rewind' }).click();
      await page.getByText('undoes a rewind').waitFor();
      await page.locator('.run-head .pill', { hasText: 'completed' }).waitFor();
      await page.getByRole('button', { name: 'Undo the rewind' }).waitFor({ state: 'detached' });
      const rewinds = sandbox.journal('r').filter(({ type }) => type === 'run-rewound');
      expect(rewinds).toMatchObject([
        { to: { agent: 'main', step: 2 } },
        { undoes: expect.any(Number) },
      ]);
      expect(await page.title()).not.toBe('broken');
      expect(faults).toEqual([]);
      await context.close();
    });

    test.each([
      ['light', {}],
      ['dark', { colorScheme: 'dark' }],
      ['phone', { viewport: PHONE }],
    ] as const)(
      'shows what the model saw at a step, by kind and by step: %s',
      async (_, options) => {
        const { page, faults, context } = await openPage(browser, served.address, options);
        await goTo(page, '#/runs/r/graph?agent=main&step=2');
        const summary = page.locator('summary', { hasText: 'What the model saw' });
        await summary.focus();
        await page.keyboard.press('Enter');
        const kinds = page.getByRole('table', { name: 'By kind' });
        await kinds.getByRole('row', { name: /^prompts [\d,]+ \d+%$/ }).waitFor();
        await kinds.getByRole('row', { name: /^tool results/ }).waitFor();
        const steps = page.getByRole('table', { name: 'By step' });
        await steps.getByRole('row', { name: /^main:1 START.md [\d,]+ \d+%$/ }).waitFor();
        await steps.getByRole('row', { name: /^main:2 NEXT.md/ }).waitFor();
        expect(await axe(page, 'context', '')).toEqual([]);
        expect(await page.evaluate(SIDEWAYS)).toEqual([]);
        // A bar is as long as its share.
        expect(await page.evaluate(BARS)).toEqual([]);
        await page.keyboard.press('Enter');
        await kinds.waitFor({ state: 'detached' });
        expect(faults).toEqual([]);
        await context.close();
      },
    );
  },
);

/** The bars that are not as long as the share in front of them. */
const BARS = `[...document.querySelectorAll('.context i')]
  .filter((bar) => bar.clientWidth === 0 || getComputedStyle(bar).backgroundSize.split(' ')[0] !== bar.closest('td').previousSibling.textContent)
  .map((bar) => bar.closest('tr').textContent)`;
