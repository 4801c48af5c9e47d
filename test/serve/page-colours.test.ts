/** One meaning per colour: a colour says how something goes, and a shape or an icon says what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const STYLE = join(import.meta.dirname, '..', '..', 'page', 'style');

interface Rule {
  readonly file: string;
  readonly selector: string;
  readonly body: string;
}

const rules: readonly Rule[] = readdirSync(STYLE)
  .filter((file) => file.endsWith('.css'))
  .flatMap((file) => {
    const text = readFileSync(join(STYLE, file), 'utf8').replace(/\/\*.*?\*\//gs, '');
    return [...text.matchAll(/([^{}]+)\{([^{}]*)\}/g)].map(([, selector = '', body = '']) => ({
      file,
      selector: selector.trim().replace(/\s+/g, ' '),
      body,
    }));
  });

/** Which part of the page each colour of a status may mark, as a pattern for the selector. */
const MEANINGS = {
  run: /tone-run|\.here\b|\.live\b|\.working\b/,
  wait: /tone-wait|\.elsewhere\b/,
  fail: /tone-fail|\.bad\b|\.failures\b|\.problem\b|\.came \.told|\.missing \.box|\.danger\b/,
  done: /tone-done|\.used\b|\.result\.taken/,
  rest: /tone-rest|\.pill|\.notice|\.result rect|\.place$|\.toast/,
  heat: /\.heat\b|\.share\b/,
} as const;

test('every colour is a token', () => {
  const literal = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|light-dark)\(/i;
  const found = rules.filter(({ file, body }) => file !== 'tokens.css' && literal.test(body));
  expect(found.map(({ file, selector }) => `${file}: ${selector}`)).toEqual([]);
});

test.each(Object.entries(MEANINGS))('the colour "%s" has one meaning', (name, meaning) => {
  const token = new RegExp(`var\\(--${name}(-soft|-fill)?\\)`);
  const users = rules.filter(({ body }) => token.test(body));
  expect(users.length).toBeGreaterThan(0);
  const others = users.filter(({ selector }) => !meaning.test(selector));
  expect(others.map(({ file, selector }) => `${file}: ${selector}`)).toEqual([]);
});

test('kinds of states, edges and bars have no colour of a status', () => {
  const kind =
    /\.(prompt|script|workflow|reference) \.box|\.(edge|head)\.[a-z]+|\.swatch\.(prompt|script|join)\b/;
  const kinds = rules.filter(({ selector }) => kind.test(selector));
  expect(kinds.length).toBeGreaterThan(10);
  for (const { selector, body } of kinds) {
    const used = [...body.matchAll(/var\(--([a-z-]+)\)/g)].map(([, token]) => token);
    const grey = ['kind', 'edge', 'taken', 'script-fill', 'bar-prompt', 'bar-script', 'bar-join'];
    expect(
      used.filter((token) => !grey.includes(token ?? '')),
      selector,
    ).toEqual([]);
  }
});
