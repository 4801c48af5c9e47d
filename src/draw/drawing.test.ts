import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { graphOf } from '../graph/graph.ts';
import { overlayOf } from '../graph/overlay.ts';
import { escapeText } from '../model/escape.ts';
import { play } from '../testing.ts';
import { toHtml } from './html.ts';
import { toMermaid } from './mermaid.ts';
import { toSvg } from './svg.ts';

const EVERYTHING = {
  START: '<goto>A</goto> <ask next="A" timeout="1h" timeout_next="B">Well?</ask>',
  A: '<call return="B">C</call> <fork next="B">C</fork> <goto>A</goto>',
  B: '<call-workflow return="C">../o"ther|x</call-workflow> <goto>NOPE</goto>',
  'C.sh': 'echo "<result>x</result>"; echo "<goto>$x</goto>"',
};

const draw = (files: Record<string, string>) => graphOf(workflowOf(files));

test('Mermaid draws each kind of node and edge differently', () => {
  expect(toMermaid(draw(EVERYTHING)).split('\n  classDef')[0]).toBe(`flowchart TD
  n0("A")
  n1("B")
  n2["C"]
  n3("START")
  n4[["C"]]
  n5[["C"]]
  n6[["..#47;o#34;ther#124;x"]]
  n7{{"NOPE"}}
  n8{"#63;"}
  n2r(["result"])
  n0 ==>|"call"| n4
  n4 -.->|"return"| n1
  n0 ==>|"fork"| n5
  n0 -.->|"next"| n1
  n0 -->|"goto"| n0
  n1 ==>|"call-workflow"| n6
  n6 -.->|"return"| n2
  n1 -->|"goto"| n7
  n2 -->|"goto"| n8
  n3 -->|"goto"| n0
  n3 -.->|"ask"| n0
  n3 -.->|"after 1h"| n1
  n2 --> n2r`);
});

test('a picture is the same each time, has light and dark colours, and loads nothing from outside', () => {
  const svg = toSvg(draw(EVERYTHING));
  expect(svg).toBe(toSvg(draw(EVERYTHING)));
  expect(svg).toContain('prefers-color-scheme: dark');
  expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
    /https?:|@import|<script|<image/,
  );
  expect(svg).toContain('../o&quot;ther|x');
});

test('the legend explains every role and kind that occurs', () => {
  const svg = toSvg(draw(EVERYTHING));
  for (const words of [
    'script',
    'other workflow',
    'missing',
    'calls',
    'asks a person',
    'starts a child agent',
  ]) {
    expect(svg).toContain(`>${words}</text>`);
  }
  expect(toSvg(draw({ START: '<result>x</result>' }))).not.toContain('>calls</text>');
});

test('a run is drawn over its workflow', async () => {
  const script = {
    START: { text: '<goto>A</goto> <goto>B</goto>', answers: ['<goto>A</goto>'] },
    A: { text: '<result>x</result>', answers: [{ text: '<result>x</result>', costUsd: 1.5 }] },
    B: { text: '<result>x</result>', answers: [] },
  };
  const { events } = await play(script);
  const graph = draw({ START: script.START.text, A: script.A.text, B: script.B.text });
  const svg = toSvg(graph, overlayOf(events));
  expect(svg.match(/<path class="edge go used /g)).toHaveLength(1);
  expect(svg.match(/<path class="edge go unused /g)).toHaveLength(1);
  expect(svg.match(/class="node prompt used /g)).toHaveLength(2);
  expect(svg).toMatch(/1× · .* · \$1\.50/);
});

test('a page contains each text, and the picture links to it', () => {
  const workflow = workflowOf(EVERYTHING);
  const html = toHtml(workflow, graphOf(workflow));
  const anchors = [...html.matchAll(/<a href="#(state-\d+)"><g class="node/g)].map(([, id]) => id);
  // Four states, and two references to one of them.
  expect(anchors).toHaveLength(6);
  expect(new Set(anchors).size).toBe(4);
  for (const id of anchors) expect(html).toContain(`<section id="${id}"`);
  expect(html).toContain('<span class="tag">&lt;goto&gt;A&lt;/goto&gt;</span>');
  expect(html).toContain("default-src 'none'");
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html).not.toMatch(/https?:|<link|<img|@import/);
});

test('no text can break out of a page or a picture', () => {
  const nasty = fc.constantFrom(
    '</script>',
    '</style>',
    '<script>',
    '<img src=x onerror=y>',
    ']]>',
    '"',
    "'",
    '&',
    '-->',
    '{{',
    '<goto>',
    '</goto>',
    '\0',
    'x',
  );
  fc.assert(
    fc.property(fc.array(nasty, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      const workflow = workflowOf({ START: text, 'X.sh': text });
      const html = toHtml(workflow, graphOf(workflow));
      expect(html.match(/<script>/g)).toHaveLength(1);
      expect(html.match(/<\/script>/g)).toHaveLength(1);
      expect(html).not.toMatch(/<script[^>]|<img/);
      expect(html.match(/<\/style>/g)).toHaveLength(1);
      expect(html.match(/<\/pre>/g)).toHaveLength(2);
    }),
  );
});

test('escaped text is well-formed in every position', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeText(text)).not.toMatch(/[<>"'\0]|&(?!amp;|lt;|gt;|quot;|#39;|#10;)/);
    }),
  );
});
