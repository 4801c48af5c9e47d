import { describe, expect, test } from 'vitest';
import { type TagReading, TRANSITION_TAGS } from '../model/tag.ts';
import { readTags } from './tags.ts';

describe('tags', () => {
  test.each<[name: string, text: string, tags: readonly string[]]>([
    ['a tag in prose', 'Done. <goto>NEXT.md</goto> Bye.', ['goto{} NEXT.md']],
    [
      'every name',
      TRANSITION_TAGS.map((n) => `<${n}>X</${n}>`).join(' '),
      TRANSITION_TAGS.map((n) => `${n}{} X`),
    ],
    ['double quotes', '<call return="R">S</call>', ['call{"return":"R"} S']],
    ['single quotes', "<call return='R'>S</call>", ['call{"return":"R"} S']],
    ['an empty value', '<goto input="">S</goto>', ['goto{"input":""} S']],
    [
      'the other quote in a value',
      `<goto a="it's" b='"'>S</goto>`,
      [`goto{"a":"it's","b":"\\""} S`],
    ],
    ['angles in a value', '<goto a="x>y</goto><b">S</goto>', ['goto{"a":"x>y</goto><b"} S']],
    ['a line end in a value', '<goto a="x\ny">S</goto>', ['goto{"a":"x\\ny"} S']],
    [
      'space and line ends between attributes',
      '<goto\n  a="1"\t\r\n b="2"\n>S</goto>',
      ['goto{"a":"1","b":"2"} S'],
    ],
    ['space around the equals sign', '<goto a = "1">S</goto>', ['goto{"a":"1"} S']],
    ['space at the end of either tag', '<goto >S</goto \n>', ['goto{} S']],
    [
      'a name of an attribute in any script',
      '<fork größe="1" x-1.y:z="2">S</fork>',
      ['fork{"größe":"1","x-1.y:z":"2"} S'],
    ],
    [
      'the five entities in a value',
      '<goto a="&lt;&gt;&amp;&quot;&apos;">S</goto>',
      [`goto{"a":"<>&\\"'"} S`],
    ],
    [
      'entities are decoded once',
      '<goto a="&amp;lt; &amp;amp;">S</goto>',
      ['goto{"a":"&lt; &amp;"} S'],
    ],
    [
      'other entities stay',
      '<goto a="&nbsp; &#10; &LT; & &lt">S</goto>',
      ['goto{"a":"&nbsp; &#10; &LT; & &lt"} S'],
    ],
    ['entities in a body stay', '<result>&lt;&amp;</result>', ['result{} &lt;&amp;']],
    ['an empty body', '<result></result>', ['result{} ']],
    ['a body is unchanged', '<result>\n  a\r\n\t</result>', ['result{} \n  a\r\n\t']],
    [
      'tags in a body are text',
      '<result><goto>A</goto> <call x></result>',
      ['result{} <goto>A</goto> <call x>'],
    ],
    ['the first closing tag ends a body', '<goto><goto>A</goto>B</goto>', ['goto{} <goto>A']],
    [
      'text that only looks like a closing tag is part of the body',
      '<call></calls></call-workflow></ call></CALL></call x></call>',
      ['call{} </calls></call-workflow></ call></CALL></call x>'],
    ],
    [
      'a longer name is text',
      '<results>A</results> <goto-x>A</goto-x> <goto1>A</goto1> <call-workflows>A</call-workflows>',
      [],
    ],
    ['a shorter name is text', '<got>A</got> <>A</> <call->A</call->', []],
    ['upper case is text', '<GOTO>A</GOTO> <Goto>A</Goto>', []],
    ['space before a name is text', '< goto>A</goto>', []],
    [
      'other signs after a name are text',
      '<goto"a">A</goto> <goto=a>A</goto> <goto/reset>A</goto> <goto<',
      [],
    ],
    [
      'several tags in order',
      '<fork next="N">A</fork><fork>B</fork>',
      ['fork{"next":"N"} A', 'fork{} B'],
    ],
    [
      'a tag that is never closed is text',
      '<call return="R"> <goto>A</goto> <result>',
      ['goto{} A'],
    ],
    ['a tag in a value of a tag that is never closed', '<call a="<goto>A</goto>">', ['goto{} A']],
    ['a tag closed only inside its own value', '<goto a="</goto>">', []],
    ['a closing tag on its own', '</goto></goto><goto>A</goto></goto>', ['goto{} A']],
    ['an unfinished closing tag', '<goto>A</goto <goto>B</goto', []],
    ['no transition in a print', '<print><goto>A</goto></print><goto>B</goto>', ['goto{} B']],
    ['no transition in a print with attributes', '<print a="</print>"><goto>A</goto></print>', []],
    ['no transition in a malformed print', '<print a=b><goto>A</goto></print>', []],
    ['a print that is never closed', '<print><goto>A</goto>', ['goto{} A']],
    ['a self-closed print', '<print/><goto>A</goto></print>', ['goto{} A']],
    ['no text', '', []],
    ['a text that breaks off', '<goto', []],
    ['a text that breaks off in a value', '<goto a="', []],
  ])('%s', (_, text, tags) => {
    const reading = readTags(text, { code: 'ignored' });
    expect(reading.tags.map(written)).toEqual(tags);
    expect(reading.bad).toEqual([]);
    expect(readTags(text, { code: 'heeded' })).toEqual(reading);
  });

  test('attribute names with a meaning in JavaScript are ordinary names', () => {
    const text = '<fork __proto__="a" constructor="b" toString="c">S</fork>';
    const attributes = readTags(text, { code: 'ignored' }).tags[0]?.attributes ?? {};
    expect(Object.entries(attributes)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    const none = readTags('<goto>S</goto>', { code: 'ignored' }).tags[0]?.attributes;
    expect(none?.constructor).toBeUndefined();
  });
});

describe('bad tags', () => {
  test.each<[name: string, text: string, problem: RegExp]>([
    [
      'an unquoted value',
      '<call return=R>S</call>',
      /^In <call> the value of return is not quoted\. Write return="…"\.$/,
    ],
    ['a missing value', '<call return=>S</call>', /return is not quoted/],
    [
      'a missing equals sign',
      '<call return>S</call>',
      /^In <call> the attribute return has no value\. Write return="…", or leave it out\.$/,
    ],
    ['a missing equals sign before a value', '<call return "R">S</call>', /return has no value/],
    [
      'no space between attributes',
      '<call a="1"b="2">S</call>',
      /^In <call> the value of a is followed by more text without a space\. /,
    ],
    ['a quote inside a value', '<call a="1"2"">S</call>', /value of a .* inside a value as &quot;/],
    [
      'a repeated attribute',
      `<call a="1" b="2" a='1'>S</call>`,
      /^<call> has the attribute a twice\. Write it once\.$/,
    ],
    [
      'a repeated attribute called __proto__',
      '<call __proto__="1" __proto__="2">S</call>',
      /__proto__ twice/,
    ],
    [
      'a quote that never closes',
      '<call return="R>S</call>',
      /^In <call> the quoted value of return never ends\. Write return="…" with both quotes\.$/,
    ],
    [
      'a quote that closes in later prose',
      '<call return="R>S</call> and "so" on',
      /value of return .* Check that its quote is closed/,
    ],
    [
      'a value without a name',
      '<call "R">S</call>',
      /there is " where an attribute or > should be/,
    ],
    ['an equals sign without a name', '<call ="R">S</call>', /there is = where/],
    ['a stray slash', '<call / a="1">S</call>', /there is \/ where/],
    ['an opening without its end', '<call return="R" S</call>', /attribute S has no value/],
    [
      'an opening that runs into the closing tag',
      '<call return="R" </call>',
      /there is < where .* Write <call>…<\/call>/,
    ],
    [
      'an opening that ends with the text',
      '<call a="</call>" ',
      /there is the end of the text where/,
    ],
    [
      'a self-closed tag',
      '<call/>',
      /^<call\/> has no body\. Write <call>…<\/call>, with a body and a closing tag\.$/,
    ],
    ['a self-closed tag with attributes', '<call return="R" />', /no body/],
    ['a very long name', `<call ${'x'.repeat(1000)}>S</call>`, /attribute x{40}… has no value/],
  ])('%s', (_, text, problem) => {
    const reading = readTags(text, { code: 'ignored' });
    expect(reading).toEqual({
      tags: [],
      bad: [{ name: 'call', problem: expect.stringMatching(problem) }],
    });
    expect(readTags(text, { code: 'heeded' })).toEqual(reading);
  });

  test.each<[name: string, text: string, bad: readonly string[], tags: readonly string[]]>([
    ['hides the tags inside it', '<goto a=1><result>A</result></goto>', ['goto'], []],
    [
      'does not hide the next tag',
      '<goto a=1>A</goto><result>B</result>',
      ['goto'],
      ['result{} B'],
    ],
    [
      'does not hide the tag after a self-closed one',
      '<goto/>A</goto><result/><goto>B</goto>',
      ['goto', 'result'],
      ['goto{} B'],
    ],
    ['is text when never closed', '<goto a=1> <goto a=2 <result>B</result>', [], ['result{} B']],
    [
      'is text when its quote and tag never close',
      '<goto a="1> <result>B</result>',
      [],
      ['result{} B'],
    ],
  ])('a bad tag %s', (_, text, bad, tags) => {
    const reading = readTags(text, { code: 'ignored' });
    expect(reading.bad.map(({ name }) => name)).toEqual(bad);
    expect(reading.tags.map(written)).toEqual(tags);
  });
});

describe('tags and code', () => {
  const T = '<goto>IN</goto>';
  test.each<[name: string, text: string, heeded: readonly string[]]>([
    ['code does not count before a tag outside', `\`${T}\` <goto>OUT</goto>`, ['OUT']],
    ['code does not count after a tag outside', `<goto>OUT</goto> \`${T}\``, ['OUT']],
    [
      'a fence does not count before a tag outside',
      `\`\`\`xml\n${T}\n\`\`\`\n<goto>OUT</goto>`,
      ['OUT'],
    ],
    ['code counts when there is nothing outside', `Take \`${T}\`.`, ['IN']],
    [
      'all code counts when there is nothing outside',
      `\`${T}\`\n\`\`\`\n${T}${T}\n\`\`\``,
      ['IN', 'IN', 'IN'],
    ],
    ['an unclosed fence counts when there is nothing else', `\`\`\`\n${T}`, ['IN']],
    ['a bad tag outside is a tag outside', `\`${T}\` <goto/>`, ['bad']],
    ['a bad tag inside does not count beside one outside', '`<goto/>` <goto>OUT</goto>', ['OUT']],
    ['a bad tag inside counts alone', '`<goto/>`', ['bad']],
    ['a print outside is no tag outside', `\`${T}\` <print>x</print>`, ['IN']],
    ['a tag in code must close in that code', '`<goto>` A `</goto>`', []],
    [
      'a tag in code that does not close hides no tag outside',
      '`<goto>` A `</goto>` <goto>OUT</goto>',
      ['OUT'],
    ],
    ['a tag in a fence must close in that fence', '```\n<goto>A\n```\n</goto>', []],
    ['an attribute in code must end in that code', '`<goto a="x` ">A</goto>', []],
    ['a body hides backticks', `<result>a \` b</result> ${T} \``, ['a ` b', 'IN']],
    ['a body hides a fence', `<result>\n\`\`\`\n</result> ${T}`, ['\n```\n', 'IN']],
    ['a value hides backticks', `<call return="\`">A</call> ${T} \``, ['A', 'IN']],
    ['a bad tag hides backticks', `<call a=\`>A</call> ${T} \``, ['IN', 'bad']],
    ['a print hides backticks', `<print>\`</print> ${T} \``, ['IN']],
    ['code that opens first hides a tag', `\` <result> \` ${T} </result>`, ['IN']],
    ['a tag that is never closed hides no code', `<call> \`${T}\` <goto>OUT</goto>`, ['OUT']],
    [
      'a result may quote code and tags',
      `<result>\`${T}\`\n\`\`\`\n${T}\n\`\`\`</result>`,
      [`\`${T}\`\n\`\`\`\n${T}\n\`\`\``],
    ],
  ])('%s', (_, text, heeded) => {
    const { tags, bad } = readTags(text, { code: 'heeded' });
    expect([...tags.map(({ body }) => body), ...bad.map(() => 'bad')]).toEqual(heeded);
  });

  test('the output of a script is not markdown', () => {
    const text = `\`${T}\` <goto>OUT</goto>\n\`\`\`\n${T}`;
    expect(readTags(text, { code: 'ignored' }).tags.map(({ body }) => body)).toEqual([
      'IN',
      'OUT',
      'IN',
    ]);
  });
});

function written(tag: TagReading['tags'][number]): string {
  return `${tag.name}${JSON.stringify(tag.attributes)} ${tag.body}`;
}
