// The picture of a screen.
import { expect, test } from 'vitest';
import { screenSvg } from './screen-svg.ts';

const ESC = '\u001b';
const draw = (captured: string) =>
  screenSvg({
    screens: [{ captured }],
    columns: 20,
    title: 'raymond <x>',
    description: 'a "screen"',
  });

test('text of the screen stays text', () => {
  const svg = draw('<script>&</script>');
  expect(svg).toContain('&lt;script&gt;&amp;&lt;/script&gt;');
  expect(svg).not.toContain('<script');
  expect(svg).toContain('<title>raymond &lt;x&gt;</title>');
  expect(svg).toContain('<desc>a &quot;screen&quot;</desc>');
});

test('each text has the width of its columns, and starts at its column', () => {
  expect(draw('ab   cd')).toContain('<text x="57" y="61" textLength="15.6"');
});

test.each([
  ['a colour of the palette follows light and dark', `${ESC}[31ma`, 'style="fill:var(--c1)">a<'],
  ['any other colour is fixed', `${ESC}[38;2;1;2;3ma`, 'style="fill:#010203">a<'],
  ['inverse text has the colours of the page', `${ESC}[7ma`, 'style="fill:var(--paper)">a<'],
  ['inverse text has a box', `${ESC}[7ma`, 'height="18" style="fill:var(--ink)"/>'],
  ['styles are classes', `${ESC}[1;2ma`, 'class="bold dim">a<'],
])('%s', (_, captured, part) => {
  expect(draw(captured)).toContain(part);
});

test('a picture that moves draws a row once for all screens that show it, and the others at their time', () => {
  const screens = [
    { captured: '$ go\none', seconds: 1 },
    { captured: '$ go\ntwo', seconds: 3 },
  ];
  const svg = screenSvg({ screens, still: 1, columns: 20, title: 'raymond', description: 'two' });
  const drawn = [...svg.matchAll(/<g class="(.*?)">.*?>([^<>]+)<\/text><\/g>/g)];
  expect(drawn.map(([, name, text]) => [name, text])).toEqual([
    ['s0-2', '$ go'],
    ['s0-1', 'one'],
    ['s1-2', 'two'],
  ]);
  expect(svg).toContain('.s0-1{visibility:hidden;animation:s0-1 4s step-end infinite}');
  expect(svg).toContain('@keyframes s0-1{0%{visibility:visible}25%{visibility:hidden}}');
  expect(svg).toContain('.s1-2{visibility:visible;');
  expect(svg).toContain('@keyframes s1-2{0%{visibility:hidden}25%{visibility:visible}}');
  expect(svg).toContain('@media (prefers-reduced-motion:reduce){.screen g{animation:none}}');
});
