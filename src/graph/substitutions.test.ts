import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withQuietSubstitutions } from './substitutions.ts';

test.each([
  ['no tag', 'echo "$(cat "a")"', 'echo "$(cat "a")"'],
  ['no attribute', 'echo "<goto>A</goto>"', 'echo "<goto>A</goto>"'],
  [
    'quotes in a substitution',
    String.raw`echo "<goto input=\"$(cat "a b")\">A</goto>"`,
    String.raw`echo "<goto input=\"$(cat _a b_)\">A</goto>"`,
  ],
  [
    'several of them, nested',
    String.raw`echo "<fork next=\"B\" a=\"$(x "$(y ")>" '"')")\" b=\"${'$'}{c:-"d"}\">A</fork>"`,
    String.raw`echo "<fork next=\"B\" a=\"$(x _$(y _)__ ___)_)\" b=\"${'$'}{c:-_d_}\">A</fork>"`,
  ],
  [
    'backticks',
    'echo "<goto input=\\"`cat "a"`\\">A</goto>"',
    'echo "<goto input=\\"_cat _a__\\">A</goto>"',
  ],
  [
    'single quotes around the tag',
    `echo '<goto input="$(cat "a")">A</goto>'`,
    `echo '<goto input="$(cat "a")">A</goto>'`,
  ],
  ['one that never ends', 'echo "<goto input=\\"$(cat "a', 'echo "<goto input=\\"$(cat "a'],
  [
    'a here-document',
    'cat <<END\n<goto input="$(cat "a")">A</goto>\nEND',
    'cat <<END\n<goto input="$(cat _a_)">A</goto>\nEND',
  ],
])('%s', (_, script, quiet) => {
  expect(withQuietSubstitutions(script)).toBe(quiet);
});

test('the length stays the same for any script', () => {
  const pieces = fc.constantFrom(
    ...['<goto ', '<fork a="', '$(', '${', '`', ')', '}', '"', "'", '\\', '>', '\n', 'x'],
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const script = parts.join('');
      expect(withQuietSubstitutions(script)).toHaveLength(script.length);
    }),
  );
});
