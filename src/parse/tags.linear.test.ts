import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type OutputText, TRANSITION_TAGS } from '../model/tag.ts';
import { readTags } from './tags.ts';

const MODES = ['heeded', 'ignored'] as const;

/** Texts of about `size` characters. Each makes some search run far and fail, repeatedly. */
const HOSTILE: Record<string, (size: number) => string> = {
  'unclosed tags': (size) => filled('<goto>', size),
  'unclosed tags of all names': (size) =>
    filled(TRANSITION_TAGS.map((n) => `<${n}>`).join(''), size),
  'unclosed tags, another one closed at the end': (size) => `${filled('<goto>', size)}</reset>`,
  'unclosed prints': (size) => filled('<print>', size),
  'nested tags': (size) => filled('<goto>', size / 2) + filled('</goto>', size / 2),
  'closing tags': (size) => filled('</goto>', size),
  'unfinished closing tags': (size) => `<goto>${filled('</goto </call ', size)}`,
  'unfinished closing tags before a real one': (size) => `${filled('<goto></goto ', size)}</goto>`,
  'closing tags with much space': (size) => `<goto>${filled(`</goto${' '.repeat(1000)}`, size)}`,
  angles: (size) => filled('<', size),
  'closing angles': (size) => filled('</', size),
  'unclosed values': (size) => filled('<goto x="', size),
  'values in either quote': (size) => filled(`<goto x="<goto y='`, size),
  'one kind of quote inside the other': (size) => `<goto x="${filled("<goto y='", size)}`,
  'values that closing tags cut': (size) => filled(`<goto x="</goto><goto y='</goto>`, size),
  'attribute lists that interlock': interlocking,
  'many attributes': (size) => `<goto ${numbered(size, (n) => `a${n}="" `)}`,
  'a long attribute name': (size) => `<goto ${filled('a', size)}`,
  'much space in a tag': (size) => `<goto ${filled(' \n', size)}`,
  'half entities': (size) => `<goto a="${filled('&am', size)}">S</goto>`,
  backticks: (size) => filled('`', size),
  'lone backticks': (size) => filled('`\n\n', size),
  'runs of growing length': (size) => growingRuns(size, ' '),
  'runs of growing length on lines': (size) => growingRuns(size, '\n'),
  'runs of growing length after tags': (size) => growingRuns(size, '<goto>'),
  'an unmatched run before each span': (size) => filled('`` `a` ', size),
  'escaped backticks': (size) => filled('\\`', size),
  backslashes: (size) => filled('\\', size),
  'small code spans far from any tag': (size) => `${filled('`a`', size)}<goto>`,
  'unclosed tags in code': (size) => filled('`<goto x="`', size),
  'unclosed fences': (size) => filled('```\n<goto>\n````\n', size),
  'fences that do not open': (size) => filled('``` `\n', size),
  tildes: (size) => filled('~~~ ', size),
  'fences of growing length': (size) => `~~~~\n${filled('~~~\n', size)}`,
  'blank lines': (size) => `\`${filled(' \n', size)}`,
  'lines of space': (size) => `\`\n${filled(' ', size)}`,
};

test.each(Object.entries(HOSTILE))('%s: work is linear in the text', (_, hostile) => {
  for (const code of MODES) {
    const once = hostile(100_000);
    const twice = hostile(200_000);
    const perCharacter = workOn(once, code) / once.length;
    expect(perCharacter).toBeLessThan(40);
    expect(workOn(twice, code) / twice.length).toBeLessThan(perCharacter * 1.25);
  }
});

test.each(['unclosed tags', 'unclosed tags of all names', 'unclosed prints', 'unclosed values'])(
  '%s are passed by a few searches, and not read one by one',
  (kind) => {
    const text = HOSTILE[kind]?.(100_000) ?? '';
    for (const code of MODES) {
      const { work, calls } = countsOf(`${text}<result>ok</result>`, code);
      expect(work).toBeLessThan(8 * text.length);
      expect(calls).toBeLessThan(100);
    }
  },
);

test('any mixture: work is linear in the text', () => {
  const tokens = ['<goto', '>', '</goto>', '<call ', '</call', '<print>', ' a="', " b='", '"', "'"];
  const markdown = ['`', '``', '\n```', '\n~~~', '\n', '\n\n', ' ', 'x', '=', '/', '\\'];
  const mixture = fc.array(fc.constantFrom(...tokens, ...markdown), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(mixture, mixture, mixture, fc.constantFrom(...MODES), (head, unit, tail, code) => {
      const text = (size: number) => head.join('') + filled(unit.join(''), size) + tail.join('');
      const once = text(4000);
      const twice = text(8000);
      expect(workOn(twice, code)).toBeLessThan(40 * twice.length);
      expect(workOn(twice, code)).toBeLessThan(2.5 * workOn(once, code));
    }),
  );
});

test('a million unclosed tags hide no tag after them', () => {
  const text = `${'<goto>'.repeat(1_000_000)}<result>ok</result>`;
  for (const code of MODES) {
    expect(readTags(text, { code })).toEqual({
      tags: [{ name: 'result', attributes: {}, body: 'ok' }],
      bad: [],
    });
  }
});

test('a line of 50 MB is read', () => {
  const line = 'x'.repeat(50_000_000);
  for (const code of MODES) {
    expect(readTags(`${line}<goto>S</goto>${line}`, { code }).tags).toHaveLength(1);
    expect(readTags(`<result>${line}</result>`, { code }).tags[0]?.body.length).toBe(line.length);
  }
});

function filled(unit: string, size: number): string {
  return unit.repeat(Math.ceil(size / unit.length));
}

function numbered(size: number, unit: (n: number) => string): string {
  let text = '';
  for (let n = 0; text.length < size; n += 1) text += unit(n);
  return text;
}

/** Two attribute lists, each inside the values of the other. */
function interlocking(size: number): string {
  return `<goto a="<goto b='${numbered(size, (n) => `" a${n}="' b${n}='`)}`;
}

function growingRuns(size: number, between: string): string {
  let text = '';
  for (let n = 1; text.length < size; n += 1) text += '`'.repeat(n) + between;
  return text;
}

/**
 * The number of characters read: one for each code, the distance for a search, the length for a
 * slice.
 */
function workOn(text: string, code: (typeof MODES)[number]): number {
  return countsOf(text, code).work;
}

function countsOf(text: string, code: (typeof MODES)[number]) {
  let work = 0;
  let calls = 0;
  const count = (characters: number) => {
    work += characters;
    calls += 1;
  };
  const counting: OutputText = {
    length: text.length,
    charCodeAt(at) {
      count(1);
      return text.charCodeAt(at);
    },
    indexOf(needle, from = 0) {
      const found = text.indexOf(needle, from);
      count((found < 0 ? text.length : found + needle.length) - from);
      return found;
    },
    slice(from, to) {
      count(to - from);
      return text.slice(from, to);
    },
  };
  readTags(counting, { code });
  return { work, calls };
}
