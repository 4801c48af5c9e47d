import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TRANSITION_TAGS } from '../model/tag.ts';
import { tagText } from './tag-text.ts';
import { readTags } from './tags.ts';
import { TAG_RULES } from './transition.ts';

const values = fc.string({ unit: fc.constantFrom(...'a<>&"\'/ \n=;ü🎉', '&amp;', '</goto>', '`') });

test('any value of an attribute is read as it was given', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(...TRANSITION_TAGS), (value, name) => {
      const { required, optional } = TAG_RULES[name];
      if (!optional.includes('input')) return;
      const given = Object.fromEntries(required.map((one) => [one, 'NEXT']));
      const tag = { name, attributes: { ...given, input: value }, body: 'A' };
      const written = tagText(tag, []);
      expect(written.ok && readTags(written.text, { code: 'ignored' })).toEqual({
        tags: [tag],
        bad: [],
      });
    }),
  );
});

test('a payload is read as it was given, or refused', () => {
  const pieces = fc.constantFrom('</result>', '</result >', '<result>', '</results>', '</', '\n');
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, values)), (parts) => {
      const tag = { name: 'result', attributes: {}, body: parts.join('') } as const;
      const written = tagText(tag, []);
      expect(written.ok).toBe(!/<\/result\s*>/.test(tag.body));
      if (written.ok) expect(readTags(written.text, { code: 'ignored' }).tags).toEqual([tag]);
      else expect(written.problem).toContain('contains </result>');
    }),
  );
});

test.each([
  [{ name: 'call', attributes: {}, body: 'A' }, '<call>: the attribute return is missing.'],
  [{ name: 'goto', attributes: { nxt: 'A' }, body: 'A' }, 'there is no attribute nxt'],
  [{ name: 'goto', attributes: {}, body: 'a/b' }, '"a/b" is a path'],
  [{ name: 'fork', attributes: { PATH: '/x' }, body: 'A' }, '"PATH" would change'],
  [{ name: 'ask', attributes: { next: 'A', timeout: '1h' }, body: 'Go?' }, 'belong together'],
] as const)('%j is refused', (tag, problem) => {
  const written = tagText(tag, []);
  expect(!written.ok && written.problem).toContain(problem);
});
