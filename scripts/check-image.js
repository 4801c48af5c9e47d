// Builds the Dockerfile and tries the image: npm run check:image
//
// It uses the Docker engine of this machine. If there is none, it starts `dockerd` with its own folder
// (Debian: docker.io). Without a registry it makes the base image itself (Debian: debootstrap).
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const [, node] = readFileSync(`${root}/Dockerfile`, 'utf8').match(/^ARG NODE=(\d+)$/m);
const base = `node:${node}-bookworm-slim`;
const image = 'raymond-check';
const folder = mkdtempSync(join(tmpdir(), 'raymond-image-'));
/** A folder of the project that belongs to the user of the image. */
const project = join(folder, 'project');
/** The options that rights need; see docs/guide/servers.md. */
const forRights = ['seccomp=unconfined', 'systempaths=unconfined'].flatMap((option) => [
  '--security-opt',
  option,
]);
let failed = 0;

const engine = docker('version').ok ? undefined : await startEngine();
try {
  if (!docker('image', 'inspect', base).ok && !docker('pull', '--quiet', base).ok) makeBase();
  must('docker', 'build', '--network', 'host', '--tag', image, root);
  makeProject();
  checkImage();
  checkRights();
  checkFeature();
  await checkShutdown();
} finally {
  if (engine) await endEngine(engine);
  rmSync(folder, { recursive: true, force: true });
}
console.log(failed === 0 ? '\nThe image is good.' : `\n${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function checkImage() {
  const inside = (...command) => run([], ...command).text;
  check('its version', inside('raymond', '--version'), version);
  check('its user', inside('id', '-un'), 'node');
  check('its Node', inside('node', '-p', 'process.versions.node.split(".")[0]'), node);
  const programs = ['bwrap', 'git', 'rg', 'socat', 'tini'];
  check('its programs', inside('which', ...programs).split('\n').length, programs.length);
  const tools = 'cd /opt/raymond/node_modules && ls | grep -cE "^(typescript|vitest)$"';
  check('its tools for development', inside('sh', '-c', tools), '0');
  const example = ['examples/poll', '--set', 'tries=2', '--set', 'pause=0', '--quiet'];
  check('an example', inside('raymond', ...example), 'not ready after 2 looks');
  check('processes that are left behind', inside('raymond', 'orphans', '--quiet'), 'zombies: 0');
  check('lint', run([], 'raymond', 'lint', 'examples/poll').code, 0);
  check('an example of another user', exampleOfAnother(example), 'not ready after 2 looks');
  const { text } = docker('image', 'inspect', image, '--format', '{{.Size}}');
  console.log(`      its size: ${Math.round(Number(text) / 1e6)} MB, with a base made here`);
}

/** With a project and a folder for its key that belong to this user. */
function exampleOfAnother(example) {
  const [state, work] = ['state', 'work'].map((name) => join(folder, name));
  mkdirSync(state);
  cpSync(`${root}/examples`, join(work, 'examples'), { recursive: true });
  for (const path of [state, work]) chownSync(path, 1234, 1234);
  const volumes = ['--volume', `${work}:/work`, '--volume', `${state}:/home/node/.local/state`];
  const options = ['--rm', '--network', 'none', '--user', '1234:1234', ...volumes];
  return docker('run', ...options, image, 'raymond', ...example).text;
}

function checkRights() {
  const refused = run([], 'raymond', 'confined', '--quiet');
  check('rights that the container does not allow', refused.code, 64);
  check('the message says what to allow', refused.text.includes('systempaths=unconfined'), true);
  const confined = run(forRights, 'raymond', 'confined', '--quiet').text.split('\n').at(-1);
  check('rights that it allows', confined, 'could not write');
}

/** Its script, in the base image as root, with the archive that the image was made from. */
function checkFeature() {
  if (spawnSync('shellcheck', [`${root}/devcontainer/raymond/install.sh`]).error === undefined)
    check(
      'the script of the feature',
      must('shellcheck', `${root}/devcontainer/raymond/install.sh`),
      '',
    );
  must('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder, root);
  const [archive] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const install = (...options) =>
    docker(
      ...['run', '--rm', '--network', 'host', '--volume', `${folder}/${archive}:/raymond.tgz:ro`],
      ...['--volume', `${root}/devcontainer/raymond:/feature:ro`],
      ...[...options.flatMap((option) => ['--env', option]), base],
      ...['sh', '-c', '/feature/install.sh && which git && which bwrap || echo none'],
    );
  const whole = install('PACKAGE=/raymond.tgz', 'RIGHTS=true');
  check('the feature', lastThree(whole), `${version} /usr/bin/git /usr/bin/bwrap`);
  const small = install('PACKAGE=/raymond.tgz', 'RIGHTS=false');
  check('the feature without rights', lastThree(small), `${version} /usr/bin/git none`);
}

function lastThree({ text }) {
  return text.split('\n').slice(-3).join(' ');
}

/** A container is stopped during a step, and another one continues the run with the same volumes. */
async function checkShutdown() {
  const volumes = [
    '--volume',
    `${project}:/work`,
    '--volume',
    'raymond-check-state:/home/node/.local/state',
  ];
  for (const [name, options] of [
    ['tini', []],
    ['raymond as the first process', ['--entrypoint', '']],
  ]) {
    const id = name === 'tini' ? 'one' : 'two';
    const begun = join(project, `begun-${id}`);
    const words = ['raymond', 'slow', '--workflow-id', id];
    const container = must('docker', 'run', '--detach', ...options, ...volumes, image, ...words);
    await until(() => existsSync(begun));
    docker('stop', '--time', '20', container);
    const ended = docker('inspect', container, '--format', '{{.State.ExitCode}}');
    check(`${name}: docker stop`, ended.text, '130');
    const shown = docker('run', '--rm', ...volumes, image, 'raymond', 'show', id, '--json');
    check(`${name}: the run`, JSON.parse(shown.text).condition, 'stopped: shutdown');
    writeFileSync(join(project, 'go'), '');
    const resumed = docker('run', '--rm', ...volumes, image, 'raymond', 'resume', id, '--quiet');
    check(`${name}: another container continues it`, resumed.text, 'done');
    rmSync(join(project, 'go'));
    docker('rm', container);
  }
  docker('volume', 'rm', 'raymond-check-state');
}

function makeProject() {
  cpSync(`${root}/examples`, join(project, 'examples'), { recursive: true });
  const confined =
    "(echo x >file) 2>/dev/null && echo '<result>wrote</result>' || echo '<result>could not write</result>'";
  const zombies = `"$(grep -ls '^State:.Z' /proc/[0-9]*/status | wc -l)"`;
  write('confined/START.sh', confined);
  write(
    'confined/workflow.yaml',
    'states: { START.sh: { rights: { write: [], network: none } } }\n',
  );
  // The parents end first, so the first process inherits the children.
  write(
    'orphans/START.sh',
    `for n in 1 2 3; do (setsid sleep 0.1 &); done; sleep 1\necho "<result>zombies: "${zombies}"</result>"`,
  );
  write(
    'slow/START.sh',
    `echo >"begun-$RAYMOND_WORKFLOW_ID"; [ -e go ] || sleep 1000\necho '<result>done</result>'`,
  );
  const all = readdirSync(project, { recursive: true }).map((path) => join(project, path));
  for (const path of [project, ...all]) chownSync(path, 1000, 1000);
}

function write(path, text) {
  mkdirSync(join(project, path, '..'), { recursive: true });
  writeFileSync(join(project, path), text);
}

/** A command in a new container with the project, without a network. */
function run(options, ...command) {
  const volume = ['--volume', `${project}:/work`];
  return docker('run', '--rm', '--network', 'none', ...options, ...volume, image, ...command);
}

/** Debian with Node and npm at their places in the official image, and the certificates of this machine. */
function makeBase() {
  console.log(`${base} cannot be had here, so it is made with debootstrap.`);
  const tree = join(folder, 'base');
  must('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', tree);
  const unpack = (spec, to) => {
    const file = must('npm', 'pack', '--silent', '--pack-destination', folder, spec)
      .split('\n')
      .at(-1);
    mkdirSync(to, { recursive: true });
    must('tar', '-xzf', join(folder, file), '-C', to, '--strip-components=1');
    rmSync(join(folder, file));
  };
  const cpu = process.arch === 'x64' ? 'x64' : 'arm64';
  unpack(`node-linux-${cpu}@${node}`, join(folder, 'node'));
  cpSync(join(folder, 'node', 'bin', 'node'), join(tree, 'usr/local/bin/node'));
  chmodSync(join(tree, 'usr/local/bin/node'), 0o755);
  unpack('npm@11', join(tree, 'usr/local/lib/node_modules/npm'));
  must('chroot', tree, 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm');
  must('chroot', tree, 'useradd', '--uid', '1000', '--user-group', '--create-home', 'node');
  const own = process.env.NODE_EXTRA_CA_CERTS;
  if (own) cpSync(own, join(tree, 'usr/local/share/own.pem'), { dereference: true });
  const changes = [
    'CMD ["node"]',
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...(own ? ['ENV NODE_EXTRA_CA_CERTS=/usr/local/share/own.pem'] : []),
  ].flatMap((change) => ['--change', change]);
  must('tar', '-C', tree, '-cf', join(folder, 'base.tar'), '.');
  must('docker', 'import', ...changes, join(folder, 'base.tar'), base);
  rmSync(tree, { recursive: true });
}

/** Without a network for containers, because that would change the rules of this machine. */
async function startEngine() {
  process.env.DOCKER_HOST = `unix://${folder}/socket`;
  const places = ['data-root', 'exec-root', 'pidfile'].flatMap((name) => [
    `--${name}`,
    join(folder, name),
  ]);
  const quiet = ['--iptables=false', '--ip6tables=false', '--bridge=none'];
  const log = openSync(join(folder, 'dockerd.log'), 'w');
  const args = ['--host', process.env.DOCKER_HOST, ...places, ...quiet];
  const started = spawn('dockerd', args, { stdio: ['ignore', log, log] });
  started.on('error', () => {});
  await until(() => docker('version').ok || started.pid === undefined || started.exitCode !== null);
  if (docker('version').ok) return started;
  throw new Error(
    `There is no Docker engine, and none can be started here. Install docker.io, and run this as root.\n${readFileSync(join(folder, 'dockerd.log'), 'utf8').slice(-500)}`,
  );
}

async function endEngine(started) {
  started.kill('SIGTERM');
  await until(() => started.exitCode !== null || started.signalCode !== null);
  // The engine leaves the network of the host mounted, and the folder could not be removed.
  for (const name of readdirSync(join(folder, 'exec-root', 'netns')))
    spawnSync('umount', [join(folder, 'exec-root', 'netns', name)]);
}

async function until(holds) {
  for (let tries = 0; tries < 600 && !holds(); tries++) await pause(100);
}

function check(what, seen, wanted) {
  const isGood = seen === wanted;
  if (!isGood) failed++;
  const but = isGood ? '' : ` (expected: ${wanted})`;
  console.log(`${isGood ? 'ok  ' : 'FAIL'}  ${what}: ${seen}${but}`);
}

function docker(...args) {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' });
  return {
    ok: status === 0,
    code: status,
    text: (status === 0 ? stdout : `${stdout}${stderr}`).trim(),
  };
}

function must(command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  });
  if (status === 0) return stdout.trim();
  throw new Error(
    `${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`.slice(-2000)}`,
  );
}
