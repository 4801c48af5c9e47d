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
