// The memory of a real agent over all tags, as its model saw it.
import { expect, test } from 'vitest';
import {
  COMPACTING,
  SAYS as COMPACTING_SAYS,
  inAnyOrder,
  killedPlay,
  REWOUND_TO_BEGIN,
  rewoundPlay,
  SEEN,
} from '../real-agent/compact-play.ts';
import { eventsOf } from '../real-agent/raymond-sandbox.ts';
import { type AcpName, TURN_COST } from './acp-agents.ts';
import { costsIn, isAlive, play, replies } from './acp-play.ts';

const CALLS = {
  'START.md': 'Do one.',
  'TWO.md': 'Do two.',
  'SUB.md': 'Look into it.',
  'DEEP.md': 'Look deeper.',
  'AFTER.md': 'Deep down was {{result}}.',
  'BACK.md': 'It was {{result}}.',
  'FRESH.md': 'Think of {{input}}.',
  'END.md': 'And so {{result}}.',
  'ANEW.md': 'Begin anew.',
};

const SAYS = {
  'Do one.': '<goto>TWO</goto>',
  'Do two.': '<call return="BACK">SUB</call>',
  'Look into it.': '<call return="AFTER">DEEP</call>',
  'Look deeper.': '<result>gold</result>',
  'Deep down': '<result>"42"</result>',
  'It was': '<function return="END" input="nothing">FRESH</function>',
  'Think of': '<result>an idea</result>',
  'And so': '<reset>ANEW</reset>',
  'Begin anew.': '<result>all done</result>',
};

export function contextPlay(name: AcpName, flags: readonly string[] = []): void {
  test(`${name} remembers what the tags say ${flags.join(' ')}`, { timeout: 400_000 }, async () => {
    const played = await play(name, CALLS, replies(SAYS));
    const { raymond, agent } = played;
    const finished = await raymond.run('workflow', '--agent', name, '--workflow-id', 'r', ...flags);
    expect(finished, finished.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
    const one = ['user: Do one.', `assistant: ${SAYS['Do one.']}`];
    const two = [...one, 'user: Do two.', `assistant: ${SAYS['Do two.']}`];
    const sub = [...two, 'user: Look into it.', `assistant: ${SAYS['Look into it.']}`];
    const back = [...two, 'user: It was "42".', `assistant: ${SAYS['It was']}`];
    expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
      one.slice(0, 1),
      two.slice(0, 3),
      sub.slice(0, 5),
      [...sub, 'user: Look deeper.'],
      [...sub, 'user: Deep down was gold.'],
      back.slice(0, 5),
      ['user: Think of nothing.'],
      [...back, 'user: And so an idea.'],
      ['user: Begin anew.'],
    ]);
    expectCosts(name, costsIn(played, 'r'), 9);
    expect(agent.model.others).toEqual([]);
    await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
  });
}

/** For an agent that cannot branch. */
export function plainPlay(name: AcpName, flags: readonly string[] = []): void {
  const title = `${name} remembers what the tags say, without calls ${flags.join(' ')}`;
  test(title, { timeout: 400_000 }, async () => {
    const says = {
      ...SAYS,
      'Do two.': '<function return="BACK" input="x">SUB</function>',
      'Look into it.': '<function return="AFTER" input="y">DEEP</function>',
    };
    const played = await play(name, CALLS, replies(says));
    const { raymond, agent } = played;
    const finished = await raymond.run('workflow', '--agent', name, '--workflow-id', 'r', ...flags);
    expect(finished, finished.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
    const two = [
      ...['user: Do one.', `assistant: ${says['Do one.']}`],
      ...['user: Do two.', `assistant: ${says['Do two.']}`],
    ];
    const sub = ['user: Look into it.', `assistant: ${says['Look into it.']}`];
    const back = [...two, 'user: It was "42".', `assistant: ${says['It was']}`];
    expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
      two.slice(0, 1),
      two.slice(0, 3),
      sub.slice(0, 1),
      ['user: Look deeper.'],
      [...sub, 'user: Deep down was gold.'],
      back.slice(0, 5),
      ['user: Think of nothing.'],
      [...back, 'user: And so an idea.'],
      ['user: Begin anew.'],
    ]);
    expectCosts(name, costsIn(played, 'r'), 9);
    expect(agent.model.others).toEqual([]);
    await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
  });
}

function expectCosts(name: AcpName, costs: ReturnType<typeof costsIn>, count: number): void {
  const { usd, from } = TURN_COST[name];
  const cost = { usd: expect.closeTo(usd, 9), from };
  expect(costs).toEqual(Array.from({ length: count }, () => cost));
}

/** A compact at every depth of the stack: see `compact-play.ts`. */
export function compactPlay(name: AcpName): void {
  test(`${name} hands sessions over at every depth`, { timeout: 400_000 }, async () => {
    const made = await compacting(name);
    const asked = await made.run('workflow', '--agent', name, '--workflow-id', 'r');
    expect(asked, asked.stderr).toMatchObject({ code: 2 });
    const finished = await made.run('resume', 'r', '--input', 'yes');
    expect(finished, finished.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
    expect(inAnyOrder(made.seen())).toEqual(inAnyOrder(SEEN));
    await rewoundPlay(made, REWOUND_TO_BEGIN);
  });
}

/** The same, while Raymond is killed again and again. */
export function killedCompactPlay(name: AcpName): void {
  test(`${name} hands sessions over while Raymond is killed`, { timeout: 400_000 }, async () => {
    await killedPlay(await compacting(name), '--agent', name);
  });
}

/** A session that is larger than a state allows. Both requests have the tokens that the agent reported. */
export function limitPlay(name: AcpName): void {
  test(`${name} hands over a session beyond its limit`, { timeout: 400_000 }, async () => {
    const { raymond, agent } = await play(
      name,
      {
        'workflow.yaml': 'handover: NOTES\ncontext: { max: 50 }\n',
        'NOTES.md': 'Hand over.',
        'START.md': 'Do one.',
        'LAST.md': 'Do two with {{handover}}.',
      },
      replies({
        'Do one.': '<goto>LAST</goto>',
        'Hand over.': 'my notes',
        'Do two with my notes.': '<result>done</result>',
      }),
    );
    const finished = await raymond.run('workflow', '--agent', name, '--workflow-id', 'r');
    expect(finished, finished.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
      ['user: Do one.'],
      ['user: Do one.', 'assistant: <goto>LAST</goto>', 'user: Hand over.'],
      ['user: Do two with my notes.'],
    ]);
    const [called] = eventsOf(raymond.journal('r'), 'handover-called');
    expect(called).toMatchObject({ tag: 'goto', state: 'LAST.md' });
    expect(called?.tokens).toBeGreaterThan(50);
  });
}

/** The compaction of the agent itself, after a turn that is larger than its window. `on` are the variables that allow it. */
export function ownCompactionPlay(name: AcpName, on: Readonly<Record<string, string>>): void {
  test.each([
    ['compacts nothing on its own', {}],
    ['compacts if the user asks for it', on],
  ])(`${name} %s`, { timeout: 400_000 }, async (_, variables) => {
    const usage = { input: 130_000, cached: 0, output: 100 };
    const { raymond, agent } = await play(
      name,
      { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
      ({ prompt }) => {
        if (prompt.includes('Do two.')) return '<result>done</result>';
        return prompt === 'Do one.' ? { text: '<goto>TWO</goto>', usage } : 'a summary';
      },
      [],
      variables,
    );
    await raymond.run('workflow', '--agent', name, '--workflow-id', 'r');
    const whole = ['user: Do one.', 'assistant: <goto>TWO</goto>', 'user: Do two.'];
    const seen = agent.model.requests.map(({ lines }) => lines);
    const own = [whole.slice(0, 1), whole];
    if (variables === on) expect(seen).not.toEqual(own);
    else expect(seen).toEqual(own);
  });
}

async function compacting(name: AcpName) {
  const { raymond, agent } = await play(name, COMPACTING, ({ prompt }) => {
    const found = Object.entries(COMPACTING_SAYS).find(([words]) => prompt.includes(words));
    if (!found) throw new Error(`Nothing is scripted for: ${prompt}`);
    return found[1];
  });
  return { ...raymond, seen: () => agent.model.requests.map(({ lines }) => lines) };
}
