import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { upTo } from '../../test/long.ts';
import { type OutputText, type TagReading, TRANSITION_TAGS } from '../model/tag.ts';
import { readTags } from './tags.ts';

describe('properties', () => {
  const soup = fc
    .array(
      fc.constantFrom(
        ...[
          '<goto',
          '<goto>',
          '</goto>',
          '</goto',
          '<call-workflow ',
          '</call-workflow>',
          '<print>',
        ],
        ...[
          '</print>',
          '<',
          '>',
          '/',
          '/>',
          '=',
          '"',
          "'",
          ' ',
          '\n',
          '\n\n',
          'a',
          'a="',
          " b='1'",
        ],
        ...['`', '``', '```', '\n```', '\n   ~~~', '~~~~', '\\', '&lt;', 'é'],
      ),
      { maxLength: 60 },
    )
    .map((tokens) => tokens.join(''));
  const prose = fc.string({ unit: 'binary' }).map((text) => text.replace(/[<`~]/g, ''));
  const written = fc
    .record({
      name: fc.constantFrom(...TRANSITION_TAGS),
      attributes: fc.dictionary(
        fc.stringMatching(/^[A-Za-z_][\w.:-]*$/),
        fc.string({ unit: 'binary' }),
      ),
      body: fc.oneof(fc.string({ unit: 'binary' }), soup),
    })
    .filter(({ name, body }) => !new RegExp(`</${name}\\s*>`).test(`${body}</${name}`));

  test('any text can be read', () => {
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary' })), (text) => {
        readTags(text, { code: 'ignored' });
        readTags(text, { code: 'heeded' });
      }),
    );
  });

  test('a text without < contains no tag', () => {
    fc.assert(
      fc.property(fc.oneof(soup, fc.string()), (text) => {
        const reading = readTags(text.replaceAll('<', ''), { code: 'ignored' });
        expect(reading).toEqual({ tags: [], bad: [] });
      }),
    );
  });

  test('a tag in prose is read back as written', () => {
    const quote = fc.constantFrom('"', "'");
    fc.assert(
      fc.property(fc.array(fc.tuple(prose, written, quote)), prose, (items, tail) => {
        const text = items.map(([before, tag, q]) => before + write(tag, q)).join('') + tail;
        for (const code of ['heeded', 'ignored'] as const) {
          const reading = readTags(text, { code });
          expect(reading.bad).toEqual([]);
          expect(reading.tags.map(comparable)).toEqual(items.map(([, tag]) => comparable(tag)));
        }
      }),
    );
  });

  test('the reader agrees with a simple, slow reader', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const { tags, bad } = readTags(text, { code: 'ignored' });
        expect({ tags: tags.map(comparable), bad: bad.length }).toEqual(readSlowly(text));
      }),
      upTo(3000),
    );
  });

  test('bytes and characters give the same tags', () => {
    fc.assert(
      fc.property(soup, fc.constantFrom('heeded', 'ignored'), (text, code) => {
        expect(readTags(bytesOf(text), { code })).toEqual(readTags(text, { code }));
      }),
    );
  });
});

function comparable(tag: TagReading['tags'][number]) {
  return { name: tag.name, attributes: Object.entries(tag.attributes).sort(), body: tag.body };
}

function write(tag: TagReading['tags'][number], quote: string): string {
  const attributes = Object.entries(tag.attributes).map(
    ([name, value]) => ` ${name}=${quote}${encode(value)}${quote}`,
  );
  return `<${tag.name}${attributes.join('')}>${tag.body}</${tag.name}>`;
}

function encode(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

/** The rules of tags as slow regular expressions. */
function readSlowly(text: string) {
  const tags = [];
  let bad = 0;
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const name = /^<(goto|call-workflow|print)(?=[\s>]|\/>)/.exec(rest)?.[1];
    const opening = /^<[a-z-]+((?:\s+[^\s=<>/'"]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/.exec(rest);
    if (name === undefined) {
      at += 1;
      continue;
    }
    const attributes = [...(opening?.[1] ?? '').matchAll(/([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g)].map(
      ([, key, value]): [string, string] => [
        key ?? '',
        (value ?? '').slice(1, -1).replaceAll('&lt;', '<'),
      ],
    );
    const isGood =
      opening !== null && new Set(attributes.map(([key]) => key)).size === attributes.length;
    if (isGood && opening[2] === '/') {
      if (name !== 'print') bad += 1;
      at += opening[0].length;
      continue;
    }
    const from = isGood ? opening[0].length : name.length + 1;
    const closing = new RegExp(`</${name}\\s*>`).exec(rest.slice(from));
    if (closing === null) {
      at += name.length + 1;
      continue;
    }
    if (name !== 'print' && isGood) {
      const body = rest.slice(from, from + closing.index);
      tags.push({ name, attributes: attributes.sort(), body });
    } else if (name !== 'print') bad += 1;
    at += from + closing.index + closing[0].length;
  }
  return { tags, bad };
}

function bytesOf(text: string): OutputText {
  const bytes = Buffer.from(text);
  return {
    length: bytes.length,
    charCodeAt: (at) => bytes[at] ?? Number.NaN,
    indexOf: (needle, from) => bytes.indexOf(needle, from),
    slice: (from, to) => bytes.toString('utf8', from, to),
  };
}
