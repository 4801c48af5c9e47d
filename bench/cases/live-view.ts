import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchCase, Unavailable } from '../frame/case.ts';
import { project } from '../frame/project.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');

/** Calls a tool twenty times per second, for three seconds. */
const AGENT = `#!/bin/bash
while read -r line; do
  case "$line" in *'"type":"user"'*) ;; *) continue ;; esac
  echo '{"type":"system","subtype":"init","session_id":"S","model":"x","claude_code_version":"2.1.325"}'
  for ((i = 0; i < 60; i++)); do
    echo '{"type":"assistant","session_id":"S","message":{"id":"m'$i'","model":"x","usage":{},"content":[{"type":"tool_use","name":"Bash","input":{"command":"npm run test -- part '$i'"}}]}}'
    sleep 0.05
  done
  echo '{"type":"assistant","session_id":"S","message":{"id":"m","model":"x","usage":{},"content":[{"type":"text","text":"<result>ok</result>"}]}}'
  echo '{"type":"result","subtype":"success","is_error":false,"session_id":"S","result":"<result>ok</result>","total_cost_usd":0.01,"permission_denials":[],"stop_reason":"end_turn"}'
done
`;

/** Writes the CPU time of Raymond's own process at its end. */
const METER = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeFileSync('cpu', String((user + system) / 1000));
});
`;

export const liveView: BenchCase = {
  name: 'live-view',
  title: '50 busy agents in the live view, CPU time',
  floor: 'the same with `--plain`',
  unit: 'ms',
  limits: 'ratio',
  target: 1.3,
  comparable: false,
  rounds: 3,
  prepare({ folder }) {
    const flow = project(folder, {
      'START.sh': `for ((i = 1; i < 50; i++)); do echo '<fork>WORK</fork>'; done; echo '<goto>WORK</goto>'\n`,
      'WORK.md': 'Work.\n',
      'agent.sh': AGENT,
      'meter.cjs': METER,
    });
    chmodSync(join(flow, 'agent.sh'), 0o700);
    return { floor: () => cpuMs(flow, '--plain'), ours: () => cpuMs(flow, '--no-plain') };
  },
};

/** `script` gives Raymond a terminal. */
function cpuMs(flow: string, option: string): number {
  const words = [process.execPath, bin, '.', option, '--max-parallel', '50', '--budget', '0'];
  const command = words.map((word) => `'${word}'`).join(' ');
  const { status, error } = spawnSync(
    'script',
    ['-qefc', `stty cols 140 rows 40; exec ${command}`, '/dev/null'],
    {
      cwd: flow,
      stdio: ['ignore', 'ignore', 'ignore'],
      env: {
        ...process.env,
        TERM: 'xterm',
        NODE_OPTIONS: `--require ${join(flow, 'meter.cjs')}`,
        RAYMOND_CLAUDE: join(flow, 'agent.sh'),
      },
    },
  );
  if (error) throw new Unavailable('util-linux has the program script, which this case needs');
  if (status !== 0) throw new Error(`exited with ${status}`);
  const cpu = Number(readFileSync(join(flow, 'cpu'), 'utf8'));
  writeFileSync(join(flow, 'cpu'), '');
  if (!(cpu > 0)) throw new Error('did not report its CPU time');
  return cpu;
}
