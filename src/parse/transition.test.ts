import { describe, expect, test } from 'vitest';
import type { Tag, TagName } from '../model/tag.ts';
import { readTags } from './tags.ts';
import {
  readDuration,
  readMove,
  readTransition,
  stateNameProblem,
  TAG_RULES,
  writeTag,
} from './transition.ts';

const CHOICES = ['model', 'effort'];
const read = (text: string) => readMove(readTags(text, { code: 'ignored' }), CHOICES);
const tag = (name: TagName, body: string, attributes: Tag['attributes'] = {}): Tag => ({
  name,
  attributes,
  body,
});

describe('each tag', () => {
  test.each([
    ['<goto>N</goto>', { tag: 'goto', target: 'N' }],
    ['<goto>\n  N.md </goto>', { tag: 'goto', target: 'N.md' }],
    ['<goto input="a &amp; b">N</goto>', { tag: 'goto', target: 'N', input: 'a & b' }],
    ['<reset cd="../x">N</reset>', { tag: 'reset', target: 'N', cd: '../x' }],
    ['<call return=" R ">C</call>', { tag: 'call', target: 'C', return: 'R' }],
    [
      '<function return="R" model="haiku" effort="low" input="i">C</function>',
      {
        tag: 'function',
        target: 'C',
        return: 'R',
        input: 'i',
        choices: { model: 'haiku', effort: 'low' },
      },
    ],
    ['<result> as\nit is </result>', { tag: 'result', payload: ' as\nit is ' }],
    ['<result></result>', { tag: 'result', payload: '' }],
    ['<join>M</join>', { tag: 'join', target: 'M', of: 'all' }],
    ['<join of="any">M</join>', { tag: 'join', target: 'M', of: 'any' }],
    [
      '<join of="2" timeout="30m" timeout_next="L" failed_next=" R " rest="continue">M</join>',
      {
        tag: 'join',
        target: 'M',
        of: 2,
        timeoutMs: 1_800_000,
        timeoutNext: 'L',
        failedNext: 'R',
        rest: 'continue',
      },
    ],
    ['<ask next="N"> Which? </ask>', { tag: 'ask', question: 'Which?', next: 'N' }],
    [
      '<ask next="N" of="2" to="release">Ship?</ask>',
      { tag: 'ask', question: 'Ship?', next: 'N', approval: { of: 2, to: 'release' } },
    ],
    [
      '<ask next="N" files="report.md, out/plot.png">Ship?</ask>',
      { tag: 'ask', question: 'Ship?', next: 'N', files: ['report.md', 'out/plot.png'] },
    ],
    [
      '<ask next="N" accept="pdf, png">Ship?</ask>',
      { tag: 'ask', question: 'Ship?', next: 'N', accept: ['pdf', 'png'] },
    ],
    [
      '<ask next="N" to="release">Ship?</ask>',
      { tag: 'ask', question: 'Ship?', next: 'N', approval: { of: 1, to: 'release' } },
    ],
    [
      '<ask next="N" timeout="24h" timeout_next="T">Which?</ask>',
      { tag: 'ask', question: 'Which?', next: 'N', timeoutMs: 86_400_000, timeoutNext: 'T' },
    ],
    [
      '<call-workflow return="R"> ../w.zip/S </call-workflow>',
      { tag: 'call-workflow', path: '../w.zip/S', return: 'R' },
    ],
    [
      '<function-workflow return="R" cd="d" model="opus[1m]">w</function-workflow>',
      { tag: 'function-workflow', path: 'w', return: 'R', cd: 'd', choices: { model: 'opus[1m]' } },
    ],
    ['<reset-workflow cd="d">w</reset-workflow>', { tag: 'reset-workflow', path: 'w', cd: 'd' }],
  ])('%s', (text, own) => {
    expect(read(text)).toEqual({ ok: true, value: { forks: [], own } });
  });
});

describe('several forks', () => {
  test.each([
    ['one with next', '<fork next="N" item="1">W</fork>', 1],
    ['several with the same next', '<fork next="N">W</fork><fork next=" N ">V</fork>', 2],
    ['one next between them', '<fork item="1">W</fork><fork next="N">W</fork>', 2],
    ['one goto for the parent', '<fork>W</fork><goto>N</goto><fork>W</fork>', 2],
    ['of both kinds', '<fork next="N">W</fork><fork-workflow>w</fork-workflow>', 2],
  ])('%s', (_, text, count) => {
    const move = read(text);
    expect(move).toMatchObject({ ok: true, value: { own: { tag: 'goto', target: 'N' } } });
    expect(move.ok && move.value.forks).toHaveLength(count);
  });

  test('next, cd and input are for Raymond, and every other attribute is a variable of the child', () => {
    const move = read('<fork next="N" cd="d" input="i" item="1" model="x">W</fork>');
    const variables = { item: '1', model: 'x' };
    expect(move.ok && move.value.forks).toEqual([
      { tag: 'fork', target: 'W', next: 'N', cd: 'd', input: 'i', variables },
    ]);
  });

  test.each([
    ['no next', '<fork>W</fork>', 'bad-transition', 'next is missing'],
    ['two nexts', '<fork next="A">W</fork><fork next="B">W</fork>', 'bad-transition', 'disagree'],
    [
      'next and goto',
      '<fork next="N">W</fork><goto>N</goto>',
      'several-transitions',
      'also a <goto>',
    ],
    ['a result', '<fork>W</fork><result>x</result>', 'several-transitions', '<result>'],
    [
      'a next and a join',
      '<fork next="N">W</fork><join>M</join>',
      'several-transitions',
      'also a <join>',
    ],
    [
      'a goto and a join',
      '<fork>W</fork><goto>A</goto><join>B</join>',
      'several-transitions',
      '<join>',
    ],
    ['no next, with a hint', '<fork>W</fork>', 'bad-transition', 'write a <join> beside the fork'],
    ['two gotos', '<fork>W</fork><goto>A</goto><goto>B</goto>', 'several-transitions', '<goto>'],
    ['a reset', '<fork next="N">W</fork><reset>A</reset>', 'several-transitions', '<reset>'],
  ])('refused: %s', (_, text, kind, message) => {
    expect(read(text)).toMatchObject({
      ok: false,
      kind,
      message: expect.stringContaining(message),
    });
  });
});

test('forks and one join for the parent', () => {
  expect(read('<fork>W</fork><join of="any">M</join><fork>V</fork>')).toMatchObject({
    ok: true,
    value: {
      forks: [{ target: 'W' }, { target: 'V' }],
      own: { tag: 'join', target: 'M', of: 'any' },
    },
  });
});

describe('refused', () => {
  test.each([
    ['nothing', 'Done.', 'no-transition', 'no transition tag'],
    ['two tags', '<goto>A</goto><goto>A</goto>', 'several-transitions', '2 transition tags'],
    ['a tag that cannot be read', '<goto input=x>A</goto>', 'bad-transition', 'not quoted'],
    [
      'a bad tag beside a good one',
      '<goto a b>A</goto><goto>A</goto>',
      'bad-transition',
      'no value',
    ],
    ['no return', '<call>C</call>', 'bad-transition', 'return is missing'],
    ['no return', '<function>C</function>', 'bad-transition', 'return is missing'],
    ['no return', '<call-workflow>w</call-workflow>', 'bad-transition', 'return is missing'],
    ['no next', '<ask>Which?</ask>', 'bad-transition', 'next is missing'],
    ['an empty return', '<call return="">C</call>', 'bad-transition', 'name of a state is missing'],
    ['a path as return', '<call return="a/b">C</call>', 'bad-transition', 'is a path'],
    ['an empty target', '<goto> </goto>', 'bad-transition', 'name of a state is missing'],
    ['an empty path', '<reset-workflow> </reset-workflow>', 'bad-transition', 'path of a workflow'],
    ['an empty question', '<ask next="N"> </ask>', 'bad-transition', 'question is missing'],
    ['an empty cd', '<reset cd=" ">N</reset>', 'bad-transition', 'cd is empty'],
    [
      'NUL in a variable',
      '<fork next="N" item="a\0b">W</fork>',
      'bad-transition',
      'item must not contain a NUL',
    ],
    ['NUL in cd', '<reset cd="a\0b">N</reset>', 'bad-transition', 'NUL'],
    ['an unknown attribute', '<goto to="x">N</goto>', 'bad-transition', 'no attribute to'],
    ['an attribute on result', '<result of="x">N</result>', 'bad-transition', 'no attribute of'],
    [
      'a model that is a flag',
      '<function return="R" model="--x">N</function>',
      'bad-transition',
      'cannot be a model',
    ],
    [
      'a join with timeout alone',
      '<join timeout="1h">M</join>',
      'bad-transition',
      'both or neither',
    ],
    [
      'a join with timeout_next alone',
      '<join timeout_next="L">M</join>',
      'bad-transition',
      'both or neither',
    ],
    ['of in words', '<join of="two">M</join>', 'bad-transition', 'all, any, or a number'],
    ['of zero', '<join of="0">M</join>', 'bad-transition', 'at least 1'],
    ['a negative of', '<join of="-1">M</join>', 'bad-transition', 'at least 1'],
    ['another rest', '<join rest="kill">M</join>', 'bad-transition', 'stop or continue'],
    ['a path as failed_next', '<join failed_next="a/b">M</join>', 'bad-transition', 'is a path'],
    ['input on a join', '<join input="x">M</join>', 'bad-transition', 'no attribute input'],
    ['two joins', '<join>M</join><join>M</join>', 'several-transitions', '2 transition tags'],
    ['of without to', '<ask next="N" of="2">?</ask>', 'bad-transition', 'of belongs to to'],
    ['accept with a dot', '<ask next="N" accept=".pdf">?</ask>', 'bad-transition', 'like pdf,png'],
    ['no file', '<ask next="N" files="">?</ask>', 'bad-transition', 'empty name'],
    ['an empty file', '<ask next="N" files="a,,b">?</ask>', 'bad-transition', 'empty name'],
    ['a file twice', '<ask next="N" files="a, a">?</ask>', 'bad-transition', 'a file twice'],
    ['a bidi file', '<ask next="N" files="a\u202eb">?</ask>', 'bad-transition', 'control'],
    [
      'too many files',
      `<ask next="N" files="${Array.from({ length: 10_000 }, (_, n) => n).join()}">?</ask>`,
      'bad-transition',
      '10000 files: a question shows at most 20',
    ],
    ['files of a goto', '<goto files="a">N</goto>', 'bad-transition', 'no attribute files'],
    ['of all', '<ask next="N" of="all" to="x">?</ask>', 'bad-transition', 'from 1 to 99'],
    ['a path in to', '<ask next="N" to="../x">?</ask>', 'bad-transition', 'a list of approvers'],
    ['timeout alone', '<ask next="N" timeout="1h">?</ask>', 'bad-transition', 'belong together'],
    [
      'timeout_next alone',
      '<ask next="N" timeout_next="T">?</ask>',
      'bad-transition',
      'belong together',
    ],
    [
      'a bad timeout',
      '<ask next="N" timeout="soon" timeout_next="T">?</ask>',
      'bad-transition',
      'like 24h',
    ],
    [
      'a variable that changes programs',
      '<fork next="N" PATH="/x">W</fork>',
      'bad-transition',
      'would change how programs run',
    ],
    [
      'a name that no shell variable can have',
      '<fork next="N" a-b="1">W</fork>',
      'bad-transition',
      'cannot be a variable',
    ],
  ])('%s: %s', (_, text, kind, message) => {
    expect(read(text)).toMatchObject({
      ok: false,
      kind,
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ['reset', true],
    ['fork', true],
    ['function-workflow', true],
    ['fork-workflow', true],
    ['reset-workflow', true],
    ['goto', false],
    ['call', false],
    ['function', false],
    ['ask', false],
    ['result', false],
    ['call-workflow', false],
  ] as const)('cd on %s: %s', (name, moves) => {
    const required = TAG_RULES[name].required.map((attribute) => [attribute, 'X']);
    const read = readTransition(tag(name, 'X', { ...Object.fromEntries(required), cd: 'd' }), []);
    const refusal = { ok: false, message: expect.stringContaining('cd is not allowed') };
    expect(read).toMatchObject(moves ? { ok: true, value: { cd: 'd' } } : refusal);
  });
});

test.each([
  ['A/B', 'is a path'],
  ['..\\B', 'is a path'],
  ['/A', 'is a path'],
  ['.', 'does not name a state'],
  ['..', 'does not name a state'],
  ['A\0.md', 'NUL'],
  ['', 'missing'],
  ['x/'.repeat(500), '…'],
])('%j cannot name a state', (name, problem) => {
  expect(stateNameProblem(name)).toContain(problem);
  expect(stateNameProblem(name)?.length).toBeLessThan(200);
});

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['1.5m', 90_000],
  [' 24 h ', 86_400_000],
  ['7d', 604_800_000],
  ['0', 0],
  ['', undefined],
  ['-1s', undefined],
  ['1w', undefined],
  ['1e9', undefined],
  ['Infinity', undefined],
  ['999999999d', undefined],
])('the duration %j', (text, ms) => expect(readDuration(text)).toBe(ms));

test.each([
  tag('goto', 'N', { input: `a "quoted" <b> & 'c' > d` }),
  tag('call', ' C ', { return: 'R' }),
  tag('result', 'a <goto>quoted</goto> tag'),
])('a written tag is read back: $name', (written) => {
  expect(readTags(writeTag(written), { code: 'ignored' }).tags).toEqual([written]);
});
