// Every claim of the guide to trust has a test that is named beside it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ATTACKS } from '../attack/attacks.ts';
import { AUTHORITIES } from '../attack/authority.ts';
import { readDocument, root } from './documents.ts';

const GUIDE = 'docs/guide/trust.md';

/** `<!-- shown by: test/cli/trust.test.ts "name", "other name"; npm run attack "name" -->` */
const SHOWN_BY = /<!-- shown by: (.*?) -->/gs;
const ADVICE = '<!-- advice -->';
const NOT_DEFENDED = '<!-- not defended -->';

interface Claim {
  readonly text: string;
  readonly evidence: readonly string[];
}

const claims = claimsOf(readDocument(GUIDE).text);

test('every claim of the guide names what shows it', () => {
  const bare = claims.filter(
    ({ text, evidence }) => evidence.length === 0 && !text.includes(ADVICE),
  );
  expect(bare.map(({ text }) => text)).toEqual([]);
});

test('everything that is named exists', () => {
  const wrong = claims.flatMap(({ evidence }) => evidence.filter((one) => !exists(one)));
  expect(wrong).toEqual([]);
});

test('the guide says what is not defended', () => {
  const [, open = ''] = readDocument(GUIDE).text.split(NOT_DEFENDED);
  expect(open.split(/\n## /)[0]?.trim()).not.toBe('');
});

/** A paragraph, an item of a list, or a table. */
function claimsOf(guide: string): readonly Claim[] {
  const sections = withoutBlocks(guide).split(/^(?=#)/m);
  const defended = sections.filter((section) => !section.includes(NOT_DEFENDED));
  const paragraphs = defended.flatMap((section) => section.split(/\n{2,}/));
  return paragraphs
    .flatMap((text) => text.split(/\n(?=- |\d+\. )/))
    .map((text) => text.trim())
    .filter((text) => text !== '' && !text.startsWith('#'))
    .map((text) => ({ text, evidence: evidenceIn(text) }));
}

/** Examples are tested where they are. */
function withoutBlocks(text: string): string {
  return text.replaceAll(/^(`{3,})[^\n]*\n.*?^\1$/gms, '');
}

/** For example `test/cli/trust.test.ts "a name"`. */
function evidenceIn(text: string): readonly string[] {
  return [...text.matchAll(SHOWN_BY)].flatMap(([, list = '']) =>
    list.split(';').flatMap((part) => {
      const [place = ''] = part.split('"');
      const names = [...part.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
      return names.length === 0 ? [part] : names.map((name) => `${place.trim()} "${name}"`);
    }),
  );
}

function exists(evidence: string): boolean {
  const [, place = '', name = ''] = /^(.*) "([^"]+)"$/.exec(evidence) ?? [];
  if (place === 'npm run attack')
    return [...ATTACKS, ...AUTHORITIES].some((attack) => attack.name === name);
  const file = join(root, place);
  return (
    place.endsWith('.test.ts') && existsSync(file) && readFileSync(file, 'utf8').includes(name)
  );
}
