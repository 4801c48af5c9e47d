/**
 * What a command in a sandbox may try. Each line of a try must have no effect outside: it prints
 * `escaped` only if it got somewhere.
 */
export interface Try {
  readonly name: string;
  /** Bash. `$PROJECT`, `$HOME_FOLDER`, `$USER_FOLDER`, `$OUTSIDE` (a pid), `$PORT` and `$SOCKET` are known. */
  readonly code: string;
  /** A file that shows outside whether it got anywhere; without one, the success of the code does. */
  readonly leaves?: string;
}

export const TRIES: readonly Try[] = [
  ...[
    ['a file beside its folders', 'echo x >"$PROJECT/beside"'],
    ['a file of the system', 'echo x >/etc/raymond-was-here'],
    ['a state of its workflow', 'echo x >>"$PROJECT/flow/START.sh"'],
    ['the journal', 'echo x >>"$PROJECT"/.raymond/state/r.jsonl'],
    ['a step folder', 'echo x >"$PROJECT"/.raymond/runs/r/steps/main/1/stdout2'],
    ['the hooks of the repository', 'echo x >"$PROJECT/.git/hooks/pre-commit"'],
    ['the configuration of the repository', 'git -C "$PROJECT" config alias.x "!true"'],
    ['a command file', 'echo x >"$PROJECT/.envrc"'],
    ['the folder of the user for Raymond', 'echo x >"$USER_FOLDER/made"'],
  ].map(([name, code]) => ({ name: `write: ${name}`, code: `${code}` })),
  { name: 'write: a file of the user', code: 'echo x >"$HOME_FOLDER/made"', leaves: 'made' },
  ...[
    ['the project', 'mv "$PROJECT" "$PROJECT-moved"'],
    ['the folder of Raymond', 'mv "$PROJECT/.raymond" "$PROJECT/out/raymond"'],
    ['its own folder', 'mv "$PROJECT/out" "$PROJECT/out2"'],
  ].map(([name, code]) => ({ name: `rename: ${name}`, code: `${code}` })),
  {
    name: 'link: a file outside into its folder, to write through it',
    code: 'ln "$PROJECT/flow/START.sh" "$PROJECT/out/linked" && echo x >>"$PROJECT/out/linked"',
  },
  {
    name: 'link: a symbolic link out of its folder',
    code: 'ln -s "$PROJECT/flow" "$PROJECT/out/flow" && echo x >"$PROJECT/out/flow/made"',
  },
  {
    name: 'read: the key of the user',
    code: 'find "$USER_FOLDER" -name "*key*" -type f -exec cat {} + 2>/dev/null | grep -q .',
  },
  { name: 'read: a credential', code: 'grep -q secret "$HOME_FOLDER/.ssh/id_test"' },
  { name: 'read: a hidden file', code: 'grep -q secret "$PROJECT/hidden/note"' },
  { name: 'list: a hidden folder', code: 'ls -A "$PROJECT/hidden" | grep -q .' },
  { name: 'list: sockets of services', code: 'ls -A /run | grep -q .' },
  {
    name: 'mount: remount the project',
    code: 'mount -o remount,bind,rw / 2>/dev/null && echo x >"$PROJECT/beside"',
  },
  {
    name: 'mount: in a namespace of its own',
    code: 'unshare -Urm sh -c \'mount -o remount,bind,rw / && echo x >"$PROJECT/beside"\'',
  },
  {
    name: 'mount: a folder over the workflow',
    code: 'mount -t tmpfs none "$PROJECT/flow" && echo x >"$PROJECT/flow/mounted"; umount "$PROJECT/flow"',
    leaves: 'project/flow/mounted',
  },
  { name: 'proc: the environment of Raymond', code: 'cat /proc/"$OUTSIDE"/environ | grep -q .' },
  { name: 'proc: the root of another process', code: 'ls /proc/1/root/etc/raymond-outside' },
  { name: 'proc: kernel settings', code: 'echo 1 >/proc/sys/kernel/core_pattern' },
  { name: 'signal: a process outside', code: 'kill -0 "$OUTSIDE"' },
  {
    name: 'ptrace: a process outside',
    code: 'gdb -p "$OUTSIDE" -batch 2>/dev/null | grep -q ptrace-ok',
  },
  {
    name: 'socket: a service outside, by its file',
    code: 'python3 -c "import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ[\'SOCKET\'])"',
  },
  {
    name: 'socket: an abstract one',
    code: 'python3 -c "import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(chr(0)+os.environ[\'SOCKET\'])"',
  },
  { name: 'network: a port of this machine', code: 'exec 9<>/dev/tcp/127.0.0.1/"$PORT"' },
  { name: 'network: IPv6', code: 'exec 9<>/dev/tcp/::1/"$PORT"' },
  { name: 'network: an address', code: 'curl -sf -m 3 http://127.0.0.2:"$PORT"/' },
  {
    name: 'network: without the proxy',
    code: 'env -u HTTP_PROXY -u http_proxy curl -sf -m 3 --noproxy "*" http://127.0.0.1:"$PORT"/',
  },
  {
    name: 'network: through a proxy asked by hand',
    code: 'proxy=$HTTP_PROXY; [ -n "$proxy" ] || proxy=http://127.0.0.1:3128; curl -sf -m 3 -x "$proxy" http://127.0.0.1:"$PORT"/',
  },
  {
    name: 'network: a raw socket',
    code: 'python3 -c "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"',
  },
  { name: 'network: a name', code: 'getent hosts example.org' },
  {
    name: 'device: a block device',
    code: 'mknod "$PROJECT/out/disk" b 8 0 && head -c1 "$PROJECT/out/disk"',
  },
  { name: 'device: memory', code: 'head -c1 /dev/mem || head -c1 /dev/kmsg' },
  {
    name: 'setuid: a copy of a shell',
    code: 'cp /bin/bash "$PROJECT/out/sh" && chmod 4755 "$PROJECT/out/sh" && "$PROJECT/out/sh" -p -c \'echo x >"$PROJECT/beside"\'',
  },
  {
    name: 'time: a link that changes while it is opened',
    code: 'mkdir -p "$PROJECT/out/a"; (for i in $(seq 300); do ln -sfn "$PROJECT/flow" "$PROJECT/out/l"; ln -sfn "$PROJECT/out/a" "$PROJECT/out/l"; done) & for i in $(seq 300); do echo x 2>/dev/null >"$PROJECT/out/l/raced"; done; wait',
    leaves: 'project/flow/raced',
  },
  {
    name: 'daemon: a process that stays',
    code: '(setsid sh -c \'while sleep 0.2; do echo x >"$PROJECT/out/alive" ; echo x >"$PROJECT/beside"; done\' >/dev/null 2>&1 &); sleep 0.5; test -e "$PROJECT/beside"',
  },
  {
    name: 'core: a core file outside',
    code: 'ulimit -c unlimited; (cd "$PROJECT"; bash -c \'kill -SEGV $$\') 2>/dev/null; ls "$PROJECT"/core* 2>/dev/null | grep -q .',
  },
];

/** A script that makes all tries, and says of each whether it got anywhere. */
export function scriptOf(tries: readonly Try[]): string {
  const parts = tries.map(({ name, code, leaves }) => {
    const success = leaves === undefined ? 'escaped' : 'held';
    return `if (${code}) >/dev/null 2>&1; then echo "${success}: ${name}"; else echo "held: ${name}"; fi`;
  });
  return [...parts, 'echo "<result>tried</result>"'].join('\n');
}
