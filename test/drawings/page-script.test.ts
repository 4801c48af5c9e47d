import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pageScript, target } from '../../scripts/page-script.js';
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH } from '../../src/draw/page-script.ts';

test('the script of the page is the bundle of src/page; otherwise run: npm run page', async () => {
  expect(readFileSync(target, 'utf8')).toBe(await pageScript());
});

test('the page allows the script by its hash', () => {
  expect(createHash('sha256').update(PAGE_SCRIPT).digest('base64')).toBe(PAGE_SCRIPT_HASH);
});

test('the script cannot end its element, and makes no text an element or code', () => {
  expect(PAGE_SCRIPT).not.toMatch(
    /<\/script|<!--|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|setTimeout/,
  );
});
