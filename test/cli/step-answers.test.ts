/** An event is enough to find exactly the text that decided the step. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answerText } from '../../src/execute/steps/answer-ref.ts';
import { realDisk } from '../../src/journal/disk.ts';
import { fileRecords } from '../../src/journal/file-records.ts';
import { type JournaledEvent, runEventSchema } from '../../src/model/event.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

/** The answers of a run's steps, found through the output of `raymond logs`. */
async function answersOf(project: Project, run: string) {
  const { stdout } = await command(project, ['logs', run, '--json']);
  const lines = stdout.trimEnd().split('\n');
  const events: JournaledEvent[] = lines.map((line) => {
    const json = JSON.parse(line);
    return { ...runEventSchema.parse(json), seq: json.seq };
  });
  const folder = project.path('.raymond/runs', run);
  const records = fileRecords(realDisk, {
    folders: { step: (agent, step) => `${folder}/steps/${agent}/${step}` },
  });
  const ended = events.flatMap((event) => (event.type === 'step-ended' ? [event] : []));
  return Promise.all(
    ended.map(async (event) => ({ event, text: await answerText(records, event, 64_000_000) })),
  );
}

test('the output of scripts: old output, large output, and output that is not UTF-8', async () => {
  const project = newProject({
    'loop/START.sh': `n=$((\${RAYMOND_RESULT:-0} + 1))
printf 'caf\\xc3 %s ' "$n"
[ "$n" != 23 ] || head -c 3000000 /dev/zero | tr '\\0' x
[ "$n" -lt 24 ] && echo "<goto input='$n'>START</goto>" || echo "<result>$n</result>"`,
  });
  const ended = await command(project, ['loop', '--workflow-id', 'loop']);
  expect(ended).toMatchObject({ code: 0, stdout: '24\n' });
  const answers = await answersOf(project, 'loop');
  const large = 'x'.repeat(3_000_000);
  const output = (n: number) => {
    const tag = n < 24 ? `<goto input='${n}'>START</goto>` : '<result>24</result>';
    return `caf\uFFFD ${n} ${n === 23 ? large : ''}${tag}\n`;
  };
  expect(answers.map(({ text }) => text === output(Number(/\d+/.exec(text ?? '')?.[0])))).toEqual(
    Array(24).fill(true),
  );
  expect(answers.map(({ event }) => event.answer?.bytes)).toEqual(
    answers.map(({ text }) => Buffer.byteLength(text ?? '')),
  );
  // The folders of the first steps were removed.
  expect(project.lines('.raymond/runs/loop/steps/main/older.jsonl')).not.toEqual([]);

  project.write('.raymond/runs/loop/steps/main/24/stdout', '<result>forged</result>');
  expect((await answersOf(project, 'loop')).at(-1)?.text).toBeUndefined();
});

test('the final messages of prompts, including old compressed ones', async () => {
  const project = newProject({
    'talk/START.md':
      '---\nallowed_transitions:\n  - { tag: goto, target: START }\n  - { tag: result }\n---\nTalk.',
    'talk/rehearsal.yaml': `answers:
  START:
${Array.from({ length: 22 }, (_, n) => `    - 'Größe ${n + 1}. <goto>START</goto>'\n`).join('')}    - <result>done</result>`,
  });
  const ended = await command(project, ['talk', '--rehearse', '--workflow-id', 'talk']);
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
  const texts = (await answersOf(project, 'talk')).map(({ text }) => text);
  expect(texts).toEqual([
    ...Array.from({ length: 22 }, (_, n) => `Größe ${n + 1}. <goto>START</goto>`),
    '<result>done</result>',
  ]);
  expect(existsSync(project.path('.raymond/runs/talk/steps/main/1/answer.gz'))).toBe(true);
});
