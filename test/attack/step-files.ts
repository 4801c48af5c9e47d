/**
 * Attacks on the files from which Raymond learns what a running step wrote and how it ended. A process
 * of the same user, with nothing but the rights to rename and to write, puts others in their place.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack, Scene } from './attack.ts';

const STEP = '.raymond/runs/r/steps/main/1';
const FOLDERS = [STEP, dirname(STEP), '.raymond/runs/r/steps', '.raymond/runs/r', '.raymond/runs'];

/** Writes that the command has ended with success, without making a new file. */
const SUCCESS = `overwrite() { printf '#exited 0 1 1' | dd of="$1" conv=notrunc status=none; }; overwrite`;

/** Ways to put a file of one's own, `out`, in the place of another. */
const WAYS: Readonly<Record<string, (file: string) => string>> = {
  'moved over it': (file) => `mv out "${file}"`,
  'copied over it by a new file': (file) => `cp --remove-destination out "${file}"`,
  'linked to it': (file) => `ln -f out "${file}"`,
  'a symbolic link to it': (file) => `ln -sf "$PWD/out" "${file}"`,
  'edited by sed': (file) => `sed -i 's/.*//' "${file}"; cat out >> "${file}"`,
  ...Object.fromEntries(
    [...FOLDERS, '.raymond'].map((folder) => [
      `moved over it while ${folder} had another name`,
      (file: string) =>
        `mv "${folder}" aside; mv out "aside/${below(folder, file)}"; mv aside "${folder}"`,
    ]),
  ),
  ...Object.fromEntries(
    FOLDERS.map((folder) => [
      `in a copy of ${folder}`,
      (file: string) =>
        `cp -a "${folder}" copy; mv out "copy/${below(folder, file)}"; mv "${folder}" kept; mv copy "${folder}"`,
    ]),
  ),
};

/**
 * The suite plays one of each kind: another file in its place, a link in its place, another folder, and a
 * second name. For the check of the file's identity, the other ways are the same.
 */
const MANY =
  /new file|linked to it|sed|had another name|in a copy of .*(?:steps|runs|main|1)$|^in a copy$/;

const below = (folder: string, file: string) => file.slice(folder.length + 1);

export const STEP_FILE_ATTACKS: readonly Attack[] = [
  ...Object.entries(WAYS).map(
    ([name, way]): Attack => ({
      ...(MANY.test(name) && { isSlow: true }),
      name: `the output of a running script: ${name}`,
      expected: 'it did not run, and it was told',
      files: waiting,
      play: async (scene) => {
        const running = await begun(scene);
        bash(scene, way(`${STEP}/stdout`));
        scene.project.write('go', '');
        return verdict(scene, await running.ended);
      },
    }),
  ),
  {
    name: 'the output of a running script: a second link to it',
    expected: 'it did not run, and it was told',
    files: waiting,
    play: async (scene) => {
      const running = await begun(scene);
      bash(scene, `ln ${STEP}/stdout second`);
      scene.project.write('go', '');
      return verdict(scene, await running.ended);
    },
  },
  {
    name: 'control: the same output, from the script itself',
    expected: 'it ran, and nothing was told',
    files: (scene) => ({
      ...waiting(scene),
      'flow/START.sh': `touch began\nuntil [ -e go ]; do sleep 0.05; done\necho '<goto>EVIL</goto>'`,
    }),
    play: async (scene) => {
      const running = await begun(scene);
      scene.project.write('go', '');
      return verdict(scene, await running.ended);
    },
  },
  {
    name: 'a running script that fails: its success written for it',
    expected: 'it did not run, and it was told',
    files: failing,
    play: async (scene) => {
      const running = await begun(scene);
      bash(scene, `${SUCCESS} "${STEP}/launch"`);
      scene.project.write('go', '');
      return verdict(scene, await running.ended);
    },
  },
  ...[
    ['moved over it', `mv out ${STEP}/stdout`],
    ['a symbolic link', `ln -sf "$PWD/out" ${STEP}/stdout`],
    ['a second link', `ln ${STEP}/stdout second`],
    [
      'moved over it while .raymond had another name',
      `mv .raymond aside; mv out aside/${STEP.slice(9)}/stdout; mv aside .raymond`,
    ],
  ].map(
    ([name = '', command = '']): Attack => ({
      ...(MANY.test(name) && { isSlow: true }),
      name: `the output of a script after the death of Raymond: ${name}`,
      expected: 'it did not run, and it was told',
      files: waiting,
      play: (scene) => afterDeath(scene, command),
    }),
  ),
  ...[
    ['written into the file', `${SUCCESS} ${STEP}/launch`],
    ['in a copy', `cp ${STEP}/launch copy; ${SUCCESS} copy; mv copy ${STEP}/launch`],
    [
      'without its seal',
      `sed -i 's/,"seal":"[0-9a-f]*"//' ${STEP}/launch; ${SUCCESS} ${STEP}/launch`,
    ],
    ['with a second link', `${SUCCESS} ${STEP}/launch; ln ${STEP}/launch second`],
  ].map(
    ([name = '', command = '']): Attack => ({
      ...(MANY.test(name) && { isSlow: true }),
      name: `the success of a script that failed after the death of Raymond: ${name}`,
      expected: 'it did not run, and it was told',
      files: failing,
      play: (scene) => afterDeath(scene, command),
    }),
  ),
  {
    name: 'control: a script that succeeds after the death of Raymond',
    expected: 'it ran, and nothing was told',
    files: (scene) => ({
      ...waiting(scene),
      'flow/START.sh': `touch began\nuntil [ -e go ]; do sleep 0.05; done\necho '<goto>EVIL</goto>'`,
    }),
    play: (scene) => afterDeath(scene, 'true'),
  },
  {
    name: "an answer of an agent, written through a link in the step's folder",
    expected: 'not written',
    files: () => ({
      'flow/START.md': 'Answer.',
      profile: 'mine\n',
    }),
    play: async ({ project, agent }) => {
      const does = `ln -s "$PWD/profile" ${STEP}/answer; ln -s "$PWD/profile" ${STEP}/raw.json`;
      await agent({ does, answers: '<result>echo owned</result>' }, 'flow', '--workflow-id', 'r');
      return project.read('profile') === 'mine\n' ? 'not written' : project.read('profile');
    },
  },
];

const OUT = '<goto>EVIL</goto>\n';

function waiting({ mark }: Scene) {
  return {
    'flow/START.sh': `touch began\nuntil [ -e go ]; do sleep 0.05; done\necho '<result>true</result>'`,
    'flow/EVIL.sh': `touch '${mark}'\necho '<result>evil</result>'`,
    out: OUT,
  };
}

/** The script prints what would lead to the payload, and fails. */
function failing(scene: Scene) {
  return {
    ...waiting(scene),
    'flow/START.sh': `touch began\nuntil [ -e go ]; do sleep 0.05; done\necho '<goto>EVIL</goto>'\nexit 1`,
  };
}

async function begun({ project }: Scene) {
  const running = project.start(['flow', '--workflow-id', 'r', '--no-debug']);
  await until(() => existsSync(project.path('began')));
  return running;
}

/** Kills Raymond, lets the script end, lets the attacker act, and resumes. */
async function afterDeath(scene: Scene, command: string): Promise<string> {
  const { project } = scene;
  const running = await begun(scene);
  running.child.kill('SIGKILL');
  await running.ended;
  project.write('go', '');
  await until(() => readFileSync(project.path(STEP, 'launch'), 'latin1').startsWith('#exited'));
  bash(scene, command);
  return verdict(scene, await project.run(['resume', 'r']));
}

function bash({ project }: Scene, command: string): void {
  execFileSync('/bin/bash', ['-ec', command], { cwd: project.folder });
}

function verdict(
  { ran }: Scene,
  { code, stderr }: { readonly code: number | null; readonly stderr: string },
): string {
  const isTold = code !== 0 || /not the file that Raymond made|was not written by/.test(stderr);
  return `${ran()}, and ${isTold ? 'it' : 'nothing'} was told`;
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await delay(20);
}
