// The pictures of the documents show what Raymond shows today. To make them again: npm run pictures
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PICTURES } from '../../scripts/pictures/pictures.ts';
import { DOCUMENT_PICTURES } from '../browser/page-pictures.ts';
import { documents, root } from './documents.ts';

const folder = join(root, 'docs/pictures');

/** Longer than all waits for a screen, so that a picture that fails closes its terminal. */
const LONG = { timeout: 150_000 };

test.each(Object.entries(PICTURES))('%s is up to date', LONG, async (name, make) => {
  const made = await make();
  const file = join(folder, name);
  if (process.env.UPDATE_PICTURES) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, made);
  }
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(made);
});

test('a document shows each picture, with a description, and there are no others', () => {
  // The pictures of the page depend on the fonts of a machine, so they are not compared.
  const names = [...Object.keys(PICTURES), ...DOCUMENT_PICTURES];
  expect(readdirSync(folder).sort()).toEqual(names.sort());
  for (const name of names) {
    const shown = documents.filter(({ text }) =>
      new RegExp(`!\\[[^\\]]{10,}\\]\\((\\.\\./|docs/)pictures/${name}\\)`).test(text),
    );
    expect(shown.length, name).toBeGreaterThan(0);
  }
});
