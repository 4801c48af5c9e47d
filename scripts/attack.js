// Runs the attacks that Raymond must withstand, and prints the observed results: npm run attack
//   --only <text>  the attacks and the cells of the table whose names contain the text
//   --long         all cells of the table, and both versions of the agents
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, long: { type: 'boolean', default: false } },
});
// The versions of the agents depend on it.
if (values.long) process.env.RAYMOND_TEST_LONG = '1';
const isChosen = (name) => name.toLowerCase().includes(values.only.toLowerCase());

const { ATTACKS, playAttack } = await importTypeScript('test/attack/attacks.ts');
const matrix = await importTypeScript('test/attack/matrix.ts');
const inside = await importTypeScript('test/attack/inside-plays.ts');
const { playKernelAlone } = await importTypeScript('test/attack/kernel-alone.ts');

let passed = 0;
let failed = 0;
const count = (isGood) => {
  if (isGood) passed++;
  else failed++;
  return isGood ? 'ok  ' : 'FAIL';
};

await playNamed();
await playControls();
await playTable();
await playAgents();
await playConfined();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function playNamed() {
  const named = ATTACKS.filter(({ name }) => isChosen(name));
  const width = Math.max(0, ...named.map(({ name }) => name.length));
  for (const attack of named) {
    const { name, expected } = attack;
    // One attack that cannot be played must not end the others.
    const { seen } = await playAttack(attack).catch((error) => ({ seen: String(error) }));
    const mark = count(seen === expected);
    console.log(`${mark}  ${name.padEnd(width)}  expected: ${expected}; observed: ${seen}`);
  }
}

/** The runs say nothing of an attack when there is none, and the payloads work where nothing defends. */
async function playControls() {
  const calm = Object.keys(matrix.STAGES).flatMap((stage) =>
    matrix.MOMENTS.map((moment) => ({
      name: `control: no attack on ${stage}, ${moment}`,
      play: () => matrix.playPeace(stage, moment),
      expected: 'ok',
    })),
  );
  const payloads = matrix.AUTHORITIES.filter(({ control }) => control).map((file) => ({
    name: `control: the payload for ${file.name}`,
    play: () => matrix.playControl(file),
    expected: 'noticed',
  }));
  const controls = [...calm, ...payloads].filter(({ name }) => isChosen(name));
  await inParallel(controls, async ({ name, play, expected }) => {
    const seen = await play();
    console.log(`${count(seen === expected)}  ${name}  observed: ${seen}`);
  });
}

async function playTable() {
  const all = matrix.CELLS.filter((cell) => isChosen(matrix.nameOf(cell)));
  const cells = values.long || values.only !== '' ? all : matrix.covering(all, 'pairs');
  const played = new Map();
  await inParallel(cells, async (cell) => {
    const result = await matrix.playCell(cell).catch((error) => ({
      seen: `BROKEN: ${error.message}`,
      told: [],
    }));
    count(matrix.isGood(result.seen));
    played.set(matrix.nameOf(cell), result);
    if (process.stderr.isTTY) process.stderr.write(`\r${played.size} of ${cells.length} cells`);
  });
  for (const moment of matrix.MOMENTS) printMoment(moment, played);
  printReasons(played);
}

function printMoment(moment, played) {
  const rows = matrix.AUTHORITIES.map((file) => [
    file.name,
    ...matrix.OPERATIONS.map((operation) => {
      const seen = played.get(matrix.nameOf({ file, operation, moment }))?.seen ?? '';
      return seen.startsWith('not defended') ? 'open' : seen;
    }),
  ]).filter((row) => row.slice(1).some(Boolean));
  if (rows.length === 0) return;
  const table = [[moment, ...matrix.OPERATIONS], ...rows];
  const widths = table[0].map((_, at) => Math.max(...table.map((row) => row[at].length)));
  console.log();
  for (const row of table) console.log(row.map((text, at) => text.padEnd(widths[at])).join('  '));
}

/** Why cells are open, and what the person was told, for a reader to judge. */
function printReasons(played) {
  const open = [...played.values()].filter(({ seen }) => seen.startsWith('not defended'));
  for (const reason of new Set(open.map(({ seen }) => seen))) console.log(`\nopen: ${reason}`);
  for (const { name } of matrix.AUTHORITIES) {
    const told = [...played].filter(([cell]) => cell.startsWith(`${name}:`));
    const lines = new Set(told.flatMap(([, result]) => result.told.map(withoutPlaces)));
    if (lines.size > 0) console.log(`\ntold about ${name}:`);
    for (const line of lines) console.log(`  ${line}`);
  }
}

function withoutPlaces(line) {
  return line
    .replaceAll(/\/\S*raymond-(project|claude)-\w+\/(a project|work)?/g, '…')
    .replaceAll(/\d\d:\d\d:\d\d/g, 'hh:mm:ss')
    .replaceAll(/\b\d{3,}\b/g, 'N');
}

async function playAgents() {
  if (!isChosen('an agent with file commands')) return;
  for (const age of matrix.suiteAges) {
    const calls = await matrix.playFileCommands(age, values.long ? 'all' : 'some');
    console.log(`\nan agent with file commands (${age} Claude Code): ${calls.length} calls`);
    for (const { call, seen } of calls) {
      const isGood = seen === 'refused';
      const mark = count(isGood);
      if (!isGood) console.log(`${mark}  ${call}  observed: ${seen}`);
    }
  }
}

/** What gets out of a sandbox: nothing. */
async function playConfined() {
  const users = process.getuid() === 0 ? inside.CONFINED_USERS : [];
  const plays = [...inside.CONFINED, ...users].map((who) => ({
    who,
    play: () => inside.playInside(who),
  }));
  const older = () => inside.playInside('a command of the agent', 'older');
  if (values.long) plays.push({ who: 'a command of the older agent', play: older });
  for (const age of matrix.suiteAges)
    plays.push({ who: `the ${age} agent without rules`, play: () => playKernelAlone(age, []) });
  if (process.getuid() === 0) plays.push({ who: 'unconfined', play: inside.playUnconfined });
  for (const { who, play } of plays) {
    if (!isChosen(`inside: ${who}`)) continue;
    console.log(`\ninside: ${who}`);
    for (const { name, expected, seen } of await play())
      console.log(`${count(seen === expected)}  ${name}  expected: ${expected}; observed: ${seen}`);
  }
}

async function inParallel(items, play) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item; item = waiting.shift()) await play(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}
