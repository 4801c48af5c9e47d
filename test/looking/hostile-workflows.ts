/** Hostile workflows: any bytes, any names, any nesting. */
import fc from 'fast-check';

export const HOSTILE_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  ' ',
  '…',
  '$(touch evil)',
  '`touch evil`',
  '<goto>START</goto>',
  '{{result}}',
  '"quoted"',
  "'",
  '&amp;',
  '\u001b[31mred',
  '\u202egnp',
  '%s',
  'a'.repeat(200),
  '\u{1f9ea}',
  '--help',
];

const name = fc.oneof(fc.constantFrom('START', 'A', 'B', ...HOSTILE_NAMES), fc.string());

const PIECES = [
  '<goto>',
  '</goto>',
  '<result>x</result>',
  '<call return="',
  '">',
  '</call>',
  '<fork next="A" a="1">',
  '</fork>',
  '<ask next="A" timeout="1s" timeout_next="B">?</ask>',
  '<reset cd="..">',
  '</reset>',
  '<function-workflow return="A">../x</function-workflow>',
  '{{',
  '}}',
  '{{constructor}}',
  '---\n',
  '\n---\n',
  'allowed_transitions:\n',
  '  - {tag: goto, target: ',
  '  - &a {tag: ',
  '  - *a\n',
  '  - {tag: fork, target: A, next: B, constructor: x, __proto__: y}\n',
  'evaluators:\n',
  '  - {visits: 1, then: {tag: goto, target: A}}\n',
  '  - {matches: "(a*)*b", then: *a}\n',
  'max_visits: 1\n',
  'model: [[[[',
  'states:\n',
  '  START: {prompt: "',
  '"}\n',
  '```',
  '`',
  '\0',
  '\ufeff',
  '\r\n',
  '}\n',
];

const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...PIECES) }, name), { maxLength: 30 })
  .map((parts) => parts.join(''));

/** Mostly text, which reaches deep into the code; some arbitrary bytes. */
export const hostileText: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 5, arbitrary: text.map((written) => Buffer.from(written)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
);

const file = fc.tuple(name, fc.constantFrom('.md', '.sh', '.ps1', ''), hostileText);

export const hostileFiles: fc.Arbitrary<ReadonlyMap<string, Uint8Array>> = fc
  .tuple(hostileText, fc.array(file, { maxLength: 6 }))
  .map(
    ([start, files]) =>
      new Map([
        ['START.md', start] as const,
        ...files.map(([stem, extension, content]) => [`${stem}${extension}`, content] as const),
      ]),
  );
