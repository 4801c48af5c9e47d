/** The page of a diagram in a real browser, without a network: what a reader sees and does. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toHtml } from '../../src/draw/html.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { overlayOf } from '../../src/graph/overlay.ts';
import type { Workflow } from '../../src/model/workflow.ts';
import { play, type Script, scriptedWorkflow } from '../../src/testing.ts';
import { TEN_WORKFLOWS } from '../drawings/ten-workflows.ts';
import { workflowOf } from '../lint/workflow-of.ts';
import { HOSTILE_NAMES } from '../looking/hostile-workflows.ts';
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

const LARGEST = TEN_WORKFLOWS.at(-1)?.[1] ?? workflowOf({ START: '' });
const DESKTOP = { width: 1200, height: 800 };
const PHONE = { width: 375, height: 700 };

/** Measures the drawing in the browser, so that real fonts count. */
const MEASURE = `(() => {
  const svg = document.querySelector('svg.drawing');
  const view = svg.viewBox.baseVal;
  const boxOf = (element) => { const { x, y, width, height } = element.getBBox(); return { x, y, width, height }; };
  const isOutside = ({ x, y, width, height }) =>
    x < 0 || y < 0 || x + width > view.width || y + height > view.height;
  const nodes = [...svg.querySelectorAll('.node')].map((node) => ({
    name: node.querySelector('.name').textContent,
    isEntry: node.querySelector('.entry') !== null,
    whole: boxOf(node),
    box: boxOf(node.querySelector('.box')),
    texts: [...node.querySelectorAll('.name, .detail')].map(boxOf),
  }));
  const touch = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return {
    clipped: [...svg.querySelectorAll('.edge'), ...svg.querySelectorAll('.node')].map(boxOf).filter(isOutside).length,
    overlapping: nodes.flatMap((a, i) => nodes.slice(i + 1).filter((b) => touch(a.whole, b.whole)).map((b) => a.name + ' ' + b.name)),
    tooLong: nodes.filter(({ box, texts }) => texts.some((text) => text.x < box.x || text.x + text.width > box.x + box.width)).map(({ name }) => name),
    topmost: nodes.toSorted((a, b) => a.box.y - b.box.y)[0].isEntry,
    count: nodes.length,
  };
})()`;

describe.runIf(browserPath !== undefined)('the page of a diagram', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser(browserPath ?? '');
    mkdirSync(artefacts, { recursive: true });
  });
  afterAll(() => browser?.close());

  async function open(workflow: Workflow, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ offline: true, viewport: DESKTOP, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.setContent(toHtml(workflow, graphOf(workflow)));
    return { page, complaints };
  }

  const viewOf = async (page: Page) => {
    const [x = 0, y = 0, width = 0, height = 0] = String(
      await page.evaluate(`document.querySelector('svg.drawing').getAttribute('viewBox')`),
    )
      .split(' ')
      .map(Number);
    return { x, y, width, height };
  };
  const isOnScreen = (page: Page, name: string) =>
    page.evaluate(`(() => {
      const pane = document.querySelector('main').getBoundingClientRect();
      const node = [...document.querySelectorAll('.node:not(.reference)')].find((n) => n.querySelector('.name').textContent === ${JSON.stringify(name)});
      const { left, right, top, bottom } = node.querySelector('.box').getBoundingClientRect();
      return left >= pane.left && right <= pane.right && top >= pane.top && bottom <= pane.bottom;
    })()`);

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
      const workflow = scriptedWorkflow(script);
      const { events } = await play(script, { answers: ['yes'] });
      await page.setContent(toHtml(workflow, graphOf(workflow), overlayOf(events)));

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

  test('nothing is clipped, nothing overlaps, and the entry is on top, in all ten diagrams', async () => {
    const { page, complaints } = await open(LARGEST, { javaScriptEnabled: false });
    for (const [name, workflow] of TEN_WORKFLOWS) {
      // The page itself allows nobody to write into it.
      await page.goto('about:blank');
      await page.setContent(toHtml(workflow, graphOf(workflow)));
      expect(await page.evaluate(MEASURE), name).toMatchObject({
        clipped: 0,
        overlapping: [],
        tooLong: [],
        topmost: true,
      });
      expect(complaints).toEqual([]);
    }
    await page.context().close();
  });

  test('a large diagram opens at its entry; 0 and the button show all of it', async () => {
    const { page, complaints } = await open(LARGEST);
    expect(await isOnScreen(page, 'START')).toBe(true);
    expect(await isOnScreen(page, 'CLEAN_UP')).toBe(false);
    await page.focus('main');
    await page.keyboard.press('0');
    for (const name of ['START', 'CLEAN_UP', 'CRITIC'])
      expect(await isOnScreen(page, name)).toBe(true);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    expect(await isOnScreen(page, 'CLEAN_UP')).toBe(false);
    await page.getByRole('button', { name: 'Fit' }).click();
    expect(await isOnScreen(page, 'CLEAN_UP')).toBe(true);
    await page.screenshot({ path: `${artefacts}diagram-60.png` });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('the mouse drags, the wheel zooms at the pointer, keys move and zoom', async () => {
    const { page } = await open(LARGEST);
    const start = await viewOf(page);
    await page.mouse.move(300, 400);
    await page.mouse.down();
    await page.mouse.move(250, 300, { steps: 3 });
    await page.mouse.up();
    const dragged = await viewOf(page);
    expect(dragged.x).toBeGreaterThan(start.x);
    expect(dragged.y).toBeGreaterThan(start.y);
    expect(dragged.width).toBeCloseTo(start.width);

    await page.mouse.wheel(0, -200);
    await expect.poll(async () => (await viewOf(page)).width).toBeLessThan(dragged.width);
    await page.mouse.wheel(0, 200);
    await expect.poll(async () => (await viewOf(page)).width).toBeCloseTo(dragged.width, 1);
    expect((await viewOf(page)).x).toBeCloseTo(dragged.x, 1);

    await page.focus('main');
    await page.keyboard.press('ArrowRight');
    expect((await viewOf(page)).x).toBeGreaterThan(dragged.x);
    await page.keyboard.press('ArrowUp');
    expect((await viewOf(page)).y).toBeLessThan(dragged.y);
    await page.keyboard.press('+');
    const near = await viewOf(page);
    expect(near.width).toBeLessThan(dragged.width);
    await page.keyboard.press('-');
    expect((await viewOf(page)).width).toBeGreaterThan(near.width);
    await page.context().close();
  });

  test('a drag that begins at a state chooses nothing; a click does', async () => {
    const { page } = await open(LARGEST);
    const goals = page.locator('svg.drawing .node', { hasText: 'GOALS' }).locator('.box');
    const box = await goals.boundingBox();
    if (!box) throw new Error('GOALS is not drawn');
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + 60, { steps: 4 });
    await page.mouse.up();
    expect(await page.evaluate('location.hash')).toBe('');
    await goals.click();
    await expect.poll(() => page.locator('section h2:visible').textContent()).toBe('GOALS.md');
    await page.context().close();
  });

  test('a search finds a state, shows it in the middle, and Enter chooses it', async () => {
    const { page } = await open(LARGEST);
    await page.keyboard.press('/');
    await page.keyboard.type('clean');
    expect(await isOnScreen(page, 'CLEAN_UP')).toBe(true);
    const middle = await page.evaluate(`(() => {
      const pane = document.querySelector('main').getBoundingClientRect();
      const node = document.querySelector('.found .box').getBoundingClientRect();
      return [Math.abs(node.left + node.width / 2 - pane.left - pane.width / 2) / pane.width,
        Math.abs(node.top + node.height / 2 - pane.top - pane.height / 2) / pane.height];
    })()`);
    for (const distance of middle as readonly number[]) expect(distance).toBeLessThan(0.15);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('section h2:visible').textContent()).toBe('CLEAN_UP.sh');
    expect(await page.locator('output').textContent()).toMatch(/^1 of \d+$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('section h2:visible').textContent()).toBe('CANCEL.md');
    await page.keyboard.press('Escape');
    expect(await page.locator('.found').count()).toBe(0);
    await page.context().close();
  });

  test('the tab key and the links of a text bring a state into view', async () => {
    const { page } = await open(LARGEST);
    await page.evaluate(`[...document.querySelectorAll('svg.drawing a')].at(-1).focus()`);
    expect(await isOnScreen(page, 'CLEAN_UP')).toBe(true);
    expect(await isOnScreen(page, 'START')).toBe(false);
    await page.locator('section:visible a', { hasText: 'GOALS' }).click();
    await expect.poll(() => isOnScreen(page, 'GOALS')).toBe(true);
    await page.context().close();
  });

  test('on a phone nothing scrolls sideways, and two fingers zoom', async () => {
    const { page } = await open(LARGEST, { viewport: PHONE, hasTouch: true, isMobile: true });
    const widths = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate(widths)).toBeLessThanOrEqual(0);
    expect(await isOnScreen(page, 'START')).toBe(true);
    const start = await viewOf(page);
    const touch = await page.context().newCDPSession(page);
    const fingers = async (type: string, ...points: readonly (readonly [number, number])[]) =>
      touch.send('Input.dispatchTouchEvent', {
        type: type as 'touchStart',
        touchPoints: points.map(([x, y], id) => ({ x, y, id })),
      });
    await fingers('touchStart', [150, 250], [220, 250]);
    for (const far of [10, 20, 40]) await fingers('touchMove', [150 - far, 250], [220 + far, 250]);
    await fingers('touchEnd');
    await expect.poll(async () => (await viewOf(page)).width).toBeLessThan(start.width * 0.8);
    const zoomed = await viewOf(page);
    await fingers('touchStart', [200, 300]);
    for (const y of [280, 250, 200]) await fingers('touchMove', [200, y]);
    await fingers('touchEnd');
    await expect.poll(async () => (await viewOf(page)).y).toBeGreaterThan(zoomed.y);
    await page.screenshot({ path: `${artefacts}diagram-phone.png` });
    await page.context().close();

    const plain = await open(LARGEST, { viewport: PHONE, javaScriptEnabled: false });
    expect(await plain.page.evaluate(widths)).toBeLessThanOrEqual(0);
    await plain.page.context().close();
  });

  test('without its script, the page scrolls and shows the chosen state', async () => {
    const { page, complaints } = await open(LARGEST, { javaScriptEnabled: false });
    expect(await page.locator('.tools').isVisible()).toBe(false);
    await page.locator('svg.drawing .node', { hasText: 'CLEAN_UP' }).click();
    await expect.poll(() => page.locator('section h2:visible').textContent()).toBe('CLEAN_UP.sh');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('hostile names and texts stay text, and no other script runs', async () => {
    const attacks = [
      '<img src=x onerror="window.broken=1">',
      '</script><script>window.broken=1</script>',
      '</title><svg onload="window.broken=1">',
      "');window.broken=1;('",
      'javascript:window.broken=1',
      ...HOSTILE_NAMES.filter((name) => !/[/\0]/.test(name)),
    ];
    const names = attacks.map((attack) => attack.replaceAll('/', '∕'));
    const files = Object.fromEntries(
      names.map((name) => [`${name}.md`, `${name} ${attacks.join(' ')}`]),
    );
    const tags = names.map((name) => `<goto>${name}</goto>`).join('\n');
    const workflow = workflowOf({ ...files, START: `${tags}\n${attacks.join('\n')}` });
    const { page, complaints } = await open(workflow);
    await page.keyboard.press('/');
    for (const name of names) {
      await page.fill('.tools input', name);
      await page.keyboard.press('Enter');
    }
    expect(await page.evaluate('window.broken')).toBeUndefined();
    expect(await page.locator('img, script:not(:last-child), iframe').count()).toBe(0);
    expect(complaints).toEqual([]);
    const added = await page.evaluate(`(() => {
      const script = document.createElement('script');
      try { script.text = 'window.broken=1'; document.body.append(script); } catch {}
      return window.broken;
    })()`);
    expect(added).toBeUndefined();
    await page.context().close();
  });
});
