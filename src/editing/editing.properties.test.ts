import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import { isStateFile } from '../parse/state.ts';
import { frontMatterSchema } from '../schemas/front-matter-schema.ts';
import { manifestSchema, workflowSchema } from '../schemas/workflow-schema.ts';
import { completionsAt } from './complete.ts';
import { type EditedWorkflow, editedWorkflow, findingsIn, withTexts } from './edited-workflow.ts';
import { hoverAt } from './hover.ts';
import { namesIn } from './name-uses.ts';
import { outlineOf } from './outline.ts';
import { renameState } from './rename-state.ts';

const schemas = {
  frontMatter: frontMatterSchema(AGENTS),
  manifest: manifestSchema(AGENTS),
  workflow: workflowSchema(AGENTS),
};

function edited(files: Readonly<Record<string, string>>): EditedWorkflow {
  const all = Object.entries(files).map(([name, text]) => ({
    name,
    content: { bytes: new TextEncoder().encode(text) },
  }));
  const source = { ref: '/f', name: 'f', entry: undefined, about: {}, diagnostics: [] };
  return editedWorkflow({ ...source, files: all }, undefined, { platform: 'unix', agents: AGENTS });
}

const name = fc.constantFrom('START', 'Ä🙂', 'B', 'C.md', 'D');
const piece = fc.oneof(
  fc
    .tuple(fc.constantFrom('goto', 'reset', 'join'), name)
    .map(([tag, to]) => `<${tag}>${to}</${tag}>`),
  fc.tuple(name, name).map(([to, back]) => `<call return="${back}">${to}</call>`),
  fc.tuple(name, name).map(([to, next]) => `<fork next='${next}' item="${to}">\n${to}\n</fork>`),
  fc.constantFrom(
    '---\n',
    '🙂',
    '\r\n',
    '{{result}}',
    '<',
    '</goto>',
    '"',
    "'",
    '`',
    '\\',
    '<result>B</result>',
  ),
  fc
    .tuple(name, name)
    .map(([to, back]) => `allowed_transitions: [{tag: call, target: ${to}, return: "${back}"}]\n`),
  name.map((to) => `handover: ${to}\n`),
  fc.constantFrom('rights:\n  write: [', '- ', '  ', 'max_visits: 3\n', ': ', '{', '}', '#'),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const prompt = fc.oneof(
  text,
  fc.tuple(text, text).map(([front, body]) => `---\n${front}---\n${body}`),
);
const files = fc
  .tuple(prompt, prompt, prompt, text, text)
  .map(([start, umlaut, c, script, manifest]) => ({
    'START.md': start,
    'Ä🙂.md': umlaut,
    'C.md': c,
    'D.sh': script,
    'workflow.yaml': manifest,
  }));

test('no text and no place makes an answer fail', () => {
  fc.assert(
    fc.property(files, fc.nat(300), (some, at) => {
      const workflow = edited(some);
      findingsIn(workflow);
      for (const [file, written] of Object.entries(some)) {
        const place = Math.min(at, written.length);
        completionsAt(workflow, file, place, schemas);
        hoverAt(workflow, file, place, schemas);
        outlineOf(workflow, file);
      }
    }),
  );
});

test('a name that can be replaced is at its place', () => {
  fc.assert(
    fc.property(files, (some) => {
      for (const source of edited(some).texts)
        for (const { from, to, written, isExact } of namesIn(source))
          if (isExact) expect(source.text.slice(from, to)).toBe(written);
    }),
  );
});

test('a rename and the rename back give the same files', () => {
  let renamed = 0;
  fc.assert(
    fc.property(files, fc.constantFrom('Ä🙂.md', 'C.md', 'D.sh'), (some, state) => {
      const before = edited(some);
      if (!isStateFile(state)) return;
      const there = renameState(before, state, 'neuer_name');
      if (!there.ok) return;
      renamed++;
      const after = applied(before, there);
      const stem = state.slice(0, state.lastIndexOf('.'));
      const renamedFile = state.replace(stem, 'neuer_name');
      if (!isStateFile(renamedFile)) return;
      const back = renameState(after, renamedFile, stem);
      if (!back.ok) {
        // A shell could read the old name differently.
        expect(back.reason).toContain('shell');
        return;
      }
      const texts = (one: EditedWorkflow) => new Map(one.texts.map((own) => [own.file, own.text]));
      expect(texts(applied(after, back))).toEqual(texts(before));
    }),
    { numRuns: 300 },
  );
  expect(renamed).toBeGreaterThan(20);
});

function applied(
  workflow: EditedWorkflow,
  { edits, files: moved }: Extract<ReturnType<typeof renameState>, { ok: true }>,
): EditedWorkflow {
  return withTexts(
    workflow,
    workflow.texts.map(({ file, text: written }) => ({
      file: moved.find(({ from }) => from === file)?.to ?? file,
      text: edits
        .filter((edit) => edit.file === file)
        .toSorted((a, b) => b.from - a.from)
        .reduce((now, edit) => now.slice(0, edit.from) + edit.text + now.slice(edit.to), written),
    })),
  );
}
