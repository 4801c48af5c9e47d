import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fill } from '../../src/interpret/render.ts';
import { makeRun, type Stage } from '../make-run.ts';

type Statement =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'call'; readonly open: string; readonly body: readonly Statement[] };

const line = fc
  .constantFrom(
    '<goto>N</goto>',
    '<goto>S</goto>',
    '<reset>N</reset>',
    '<reset cd="deeper">N</reset>',
    '<reset cd="/away">S</reset>',
    '<fork next="N" cd="/worker">N</fork>',
  )
  .map((text): Statement => ({ kind: 'line', text }));

const { program } = fc.letrec<{ program: readonly Statement[]; statement: Statement }>((tie) => ({
  program: fc.array(tie('statement'), { maxLength: 4 }),
  statement: fc.oneof(
    { maxDepth: 4 },
    line,
    fc.record({
      kind: fc.constant('call' as const),
      open: fc.constantFrom(
        '<call return="R">N</call>',
        '<function return="R">S</function>',
        '<call-workflow return="R">/other</call-workflow>',
        '<function-workflow return="R" cd="/there">/other</function-workflow>',
        '<function-workflow return="R">/flow</function-workflow>',
      ),
      body: tie('program'),
    }),
  ),
}));

const states = { START: [], N: [], 'S.sh': [], R: [] };

test('a result undoes its call, regardless of moves, resets, forks and calls in between', () => {
  fc.assert(
    fc.property(program, (statements) => {
      const stage = makeRun(states, { others: { '/other': states }, settings: { budgetUsd: 0 } });
      execute(stage, statements);
      expect(stage.agent().stack).toEqual([]);
    }),
  );
});

function execute(stage: Stage, statements: readonly Statement[]): void {
  for (const statement of statements) {
    if (statement.kind === 'line') {
      stage.turn(statement.text);
      continue;
    }
    stage.start();
    const { stack, workflow, cwd, status, session } = stage.agent();
    const running = status.kind === 'running' ? status.session : undefined;
    stage.end(statement.open);
    expect(stage.agent().stack).toHaveLength(stack.length + 1);
    execute(stage, statement.body);
    stage.turn('<result>back</result>');
    expect(stage.agent()).toMatchObject({ state: 'R.md', input: 'back', stack, workflow, cwd });
    expect(stage.agent().session).toEqual(
      running ? { kind: 'open', id: running.id, executor: 'scripted' } : session,
    );
  }
}

const HOSTILE = ['A', 'A1', 'A11', 'A_A', 'A_A1', '1', '11', 'MAIN', 'main_a', 'Ａ１', '...a', '_'];

test('no two agents ever have the same name, regardless of how they fork and end', () => {
  const act = fc.tuple(fc.nat(), fc.array(fc.constantFrom(...HOSTILE), { maxLength: 4 }));
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const script = Object.fromEntries(['START', ...HOSTILE].map((name) => [name, []]));
      const stage = makeRun(script, { settings: { budgetUsd: 0 } });
      for (const [pick, targets] of acts) {
        const ids = [...stage.run.agents].map(([id]) => id);
        const forks = targets.map((target) => `<fork>${target}</fork>`).join('');
        const text = targets.length > 0 ? `${forks}<goto>START</goto>` : '<result>x</result>';
        if (ids.length > 0) stage.turn(text, ids[pick % ids.length]);
      }
      const names = stage.events.flatMap((e) => (e.type === 'agent-forked' ? [e.agent] : []));
      expect(new Set(['main', ...names]).size).toBe(names.length + 1);
      for (const name of names) expect(name).toMatch(/^main(_[\p{L}\p{N}_-]{1,6}\d+)+$/u);
    }),
  );
});

test('a value that fills a placeholder is not read as a template again', () => {
  const literal = fc.string().map((text) => text.replace(/[{}]/g, ''));
  const name = fc.constantFrom('a', 'b', 'unknown');
  const value = fc
    .array(fc.constantFrom('{{a}}', '{{b}}', '{{', '}}', 'a', '$&', '$1'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(fc.tuple(literal, name)), value, value, (parts, a, b) => {
      const values: Record<string, string> = { a, b };
      const template = parts.map(([text, placeholder]) => `${text}{{${placeholder}}}`).join('');
      const filled = parts.map(
        ([text, placeholder]) => text + (values[placeholder] ?? `{{${placeholder}}}`),
      );
      expect(fill(template, (placeholder) => values[placeholder])).toBe(filled.join(''));
    }),
  );
});
