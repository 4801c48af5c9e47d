/**
 * What a command in a sandbox may try. A try has got somewhere if its code succeeds, or if a file or a service
 * outside shows it. `inside-plays.ts` plays them.
 */
export interface Try {
  readonly name: string;
  /**
   * Bash. These are known: `$PROJECT`, `$FLOW` with `$STATE`, their folder `$BESIDE`, `$HOME_FOLDER` with `.ssh`, `$USER_FOLDER` of Raymond,
   * `$OUTSIDE` (a process), `$PORT` (TCP and UDP), `$OPEN` (a port that a step with a network may reach), `$SOCKET`,
   * `$MEMORY` (the key of shared memory), `$PROGRAM` (a file of Raymond itself) and `$ADDRESS` of this machine.
   */
  readonly code: string;
  /** A file that shows outside whether it got anywhere; without one, the success of the code does. */
  readonly leaves?: string;
  /** What it needs beside the code to get anywhere without a sandbox, such as a terminal. */
  readonly needs?: string;
}

type Row = readonly [name: string, code: string, needs?: string];

const tries = (kind: string, rows: readonly Row[]): readonly Try[] =>
  rows.map(([name, code, needs]) => ({
    name: `${kind}: ${name}`,
    code,
    ...(needs !== undefined && { needs }),
  }));

/** Numbers of system calls. */
const CALL =
  process.arch === 'arm64'
    ? { ptrace: 117, keyctl: 219, uring: 425, unshare: 97, pageFaults: 282, perf: 241, bpf: 280 }
    : { ptrace: 101, keyctl: 250, uring: 425, unshare: 272, pageFaults: 323, perf: 298, bpf: 321 };

const perl = (code: string) => `perl -e '${code}'`;

/** Asks the proxy by hand, and reads its answer. */
const askProxy = (...requests: readonly string[]) =>
  `proxy=\${HTTP_PROXY#*@}; proxy=\${proxy#http://}; proxy=\${proxy%/}; key=\${HTTP_PROXY#http://}; key=\${key%@*}
auth="Proxy-Authorization: Basic $(printf %s "$key" | base64 -w0)"
exec 9<>/dev/tcp/\${proxy%:*}/\${proxy#*:} || exit 1
printf '%b' "${requests.map((one) => one.replaceAll('@AUTH@', '$auth')).join('')}" >&9
timeout 1 cat <&9 | grep -q "a service outside"`;

const request = (line: string, host: string) =>
  `${line} HTTP/1.1\\r\\nHost: ${host}\\r\\n@AUTH@\\r\\n\\r\\n`;

const NO_PROXY = 'a proxy';

/** For a step that may write `out`, must not see `hidden`, and may reach `$OPEN` or nothing. */
export const TRIES: readonly Try[] = [
  // First, because some of the others leave files in folders of their own.
  ...tries('list', [
    ['a hidden folder', 'ls -A "$PROJECT/hidden" | grep -q .'],
    ['credentials', 'ls -A "$HOME_FOLDER/.ssh" | grep -q .'],
    ['sockets of services', 'ls -A /run | grep -q .'],
    ['processes outside', 'ls /proc | grep -qx "$OUTSIDE"'],
  ]),
  ...tries('write', [
    ['a file beside its folders', 'echo x >"$PROJECT/beside"'],
    ['a file of the system', 'exec 9>>/etc/hostname'],
    ['libraries for all programs', '[ -w /etc ] && [ -w /usr/lib ]'],
    ['the tables of cron and at', '[ -w /var/spool ]'],
    ['a state of its workflow', 'exec 9>>"$STATE"'],
    ['the journal', 'exec 9>>"$PROJECT"/.raymond/state/r.jsonl'],
    ['its own step folder', 'echo x >"$PROJECT"/.raymond/runs/r/steps/main/1/made'],
    [
      'its record',
      'for f in "$PROJECT"/.raymond/runs/r/steps/main/1/*; do (exec 9>>"$f") && exit; done; false',
    ],
    ['the folder of other steps', 'mkdir "$PROJECT"/.raymond/runs/r/steps/other'],
    ['the hooks of the repository', 'echo x >"$PROJECT/.git/hooks/pre-commit"'],
    ['the configuration of the repository', 'git -C "$PROJECT" config alias.x "!true"'],
    ['a command file', 'exec 9>>"$PROJECT/.envrc"'],
    ['Raymond itself', 'exec 9>>"$PROGRAM"'],
  ]),
  {
    name: 'write: a file of the user',
    code: 'echo x >"$BESIDE/home/made"',
    leaves: '$BESIDE/home/made',
  },
  ...tries('rename', [
    ['the project', 'mv "$PROJECT" "$PROJECT-moved"'],
    ['the folder of Raymond', 'mv "$PROJECT/.raymond" "$PROJECT/out/raymond"'],
    ['its own folder', 'mv "$PROJECT/out" "$PROJECT/out2"'],
    ['the workflow', 'mv "$FLOW" "$PROJECT/out/flow3"'],
  ]),
  ...tries('link', [
    [
      'a file outside into its folder, to write through it',
      'ln "$STATE" "$PROJECT/out/linked" && exec 9>>"$PROJECT/out/linked"',
    ],
    [
      'a symbolic link out of its folder',
      'ln -sfn "$FLOW" "$PROJECT/out/flow" && echo x >"$PROJECT/out/flow/made"',
    ],
    ['one that it had before', 'exec 9>>"$PROJECT/out/to-beside/linked"'],
  ]),
  ...tries('read', [
    ['the key of the user', 'grep -rq secret "$USER_FOLDER"'],
    ['a credential', 'grep -q secret "$HOME_FOLDER/.ssh/id_test"'],
    ['a hidden file', 'grep -q secret "$PROJECT/hidden/note"'],
    [
      'a hidden file, under what lies over it',
      'unshare -Urm sh -c \'umount "$PROJECT/hidden"; cat "$PROJECT/hidden/note"\' | grep -q secret',
    ],
    [
      'a credential, as another process sees it',
      'cat /proc/[0-9]*/root"$HOME_FOLDER/.ssh/id_test" | grep -q secret',
    ],
    [
      'a credential, from the folder of another process',
      'cat /proc/[0-9]*/cwd/../home/.ssh/id_test | grep -q secret',
    ],
    ['a file that another process has open', 'cat /proc/"$OUTSIDE"/fd/0 | grep -q secret'],
  ]),
  ...tries('mount', [
    [
      'the project, writable',
      'mount -o remount,bind,rw "$PROJECT" 2>/dev/null; echo x >"$PROJECT/beside"',
    ],
    [
      'everything, writable, in a namespace of its own',
      'unshare -Urm sh -c \'mount -o remount,bind,rw /; mount -o remount,bind,rw "$PROJECT"; echo x >"$PROJECT/beside"\'',
    ],
    [
      'the old root',
      'unshare -Urm sh -c \'mkdir -p /tmp/r && mount --rbind / /tmp/r && cd /tmp/r && pivot_root . tmp; cat "$PROJECT/hidden/note"\' | grep -q secret',
      'a namespace that has it',
    ],
    [
      'groups of processes, which can be ended there',
      "unshare -UrmC sh -c 'mount -t tmpfs none /mnt && mount -t cgroup2 none /mnt && exec 9>>/mnt/cgroup.procs'",
    ],
    [
      'the disk',
      'mkdir -p /tmp/disk && for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/dm-0; do mount -o ro "$d" /tmp/disk && exit; done; false',
      'a disk that is not in use',
    ],
  ]),
  ...tries('root', [
    [
      'a folder above the root',
      perl(
        'mkdir "/tmp/jail"; chroot "/tmp/jail" or exit 1; chdir ".." for 1..60; chroot "."; open F, "<", $ENV{HOME_FOLDER}."/.ssh/id_test" or exit 1; exit 0',
      ),
    ],
    ['rights through setuid programs', 'grep -q "NoNewPrivs:.0" /proc/self/status'],
    [
      'a copy of a shell with setuid',
      'cp /bin/bash "$PROJECT/out/sh" && chmod 4755 "$PROJECT/out/sh" && "$PROJECT/out/sh" -p -c \'echo x >"$PROJECT/beside"\'',
    ],
  ]),
  ...tries('proc', [
    ['the environment of a process outside', 'cat /proc/"$OUTSIDE"/environ | grep -q .'],
    ['the memory of a process outside', 'exec 9<>/proc/"$OUTSIDE"/mem'],
    ['kernel settings', 'exec 9>>/proc/sys/kernel/core_pattern'],
    ['the keys of the kernel', 'exec 9>>/proc/sysrq-trigger', 'a kernel that has it'],
    ['kernel memory', 'head -c1 /proc/kcore | grep -q .', 'a kernel that has it'],
    ['a cgroup', 'exec 9>>/sys/fs/cgroup/cgroup.procs', 'a cgroup at that place'],
  ]),
  ...tries('process', [
    ['a signal to one outside', 'kill -0 "$OUTSIDE"'],
    [
      'ptrace of one outside',
      perl(`exit(syscall(${CALL.ptrace}, 0x4206, $ENV{OUTSIDE}+0, 0, 0) != 0)`),
    ],
    ['the memory of one outside', perl('exit !shmget($ENV{MEMORY}+0, 0, 0)')],
  ]),
  ...tries('kernel', [
    ['keys of the session', perl(`exit(syscall(${CALL.keyctl}, 0, -3, 1, 0, 0) < 0)`)],
    ['io_uring', perl(`my $b = "\\0" x 120; exit(syscall(${CALL.uring}, 1, $b) < 0)`)],
    ['page faults of its own', perl(`exit(syscall(${CALL.pageFaults}, 1) < 0)`)],
    [
      'programs in the kernel',
      perl(
        `my $b = pack("LLLL", 2, 4, 4, 1) . "\\0" x 100; exit(syscall(${CALL.bpf}, 0, $b, 72) < 0)`,
      ),
    ],
    [
      'counters of processes outside',
      perl(
        `my $b = pack("LLQ", 1, 112, 0) . "\\0" x 96; exit(syscall(${CALL.perf}, $b, $ENV{OUTSIDE}+0, -1, -1, 0) < 0)`,
      ),
      'counters',
    ],
    [
      'a namespace for groups of processes',
      perl(`exit(syscall(${CALL.unshare}, 0x02000000) != 0)`),
    ],
  ]),
  ...tries('socket', [
    [
      'a service outside, by its file',
      perl('socket(S, 1, 1, 0) or exit 1; connect(S, pack("Sa*", 1, $ENV{SOCKET})) or exit 1'),
    ],
    [
      'a service outside, by an abstract name',
      perl('socket(S, 1, 1, 0) or exit 1; connect(S, pack("Sxa107", 1, $ENV{SOCKET})) or exit 1'),
    ],
    ['a message to a file', perl('socket(S, 1, 2, 0) or exit 1')],
    ['the host of a virtual machine', perl('socket(S, 40, 1, 0) or exit 1'), 'vsock'],
    [
      'Bluetooth and others',
      perl(
        'for (3..9, 11..15, 17..45) { exit 0 if socket(S, $_, 2, 0) || socket(S, $_, 5, 0) || socket(S, $_, 3, 0) } exit 1',
      ),
    ],
    [
      'one that Raymond has inherited',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code of the shell
      'for f in /dev/fd/*; do case ${f##*/} in [012]) ;; *) [ -e "$f/etc" ] && exit ;; esac; done; false',
    ],
    [
      'typing into a terminal',
      perl('open T, "+<", "/dev/tty" or exit 1; ioctl(T, 0x5412, "x") or exit 1'),
      'a terminal',
    ],
  ]),
  ...tries('network', [
    ['a port of this machine', 'exec 9<>/dev/tcp/127.0.0.1/"$PORT"'],
    ['IPv6', 'exec 9<>/dev/tcp/::1/"$PORT"'],
    ['an address of this machine', 'exec 9<>/dev/tcp/"$ADDRESS"/"$PORT"'],
    [
      'a datagram',
      'exec 9<>/dev/udp/127.0.0.1/"$PORT"; echo x >&9; IFS= read -r -n 1 -t 2 -u 9 line',
    ],
    [
      'a name server by hand',
      'exec 9<>/dev/udp/"$ADDRESS"/"$PORT"; printf "\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7example\\3org\\0\\0\\1\\0\\1" >&9; IFS= read -r -n 1 -t 2 -u 9 line',
    ],
    ['raw packets', `ping -c1 -W1 "$ADDRESS"`, 'ping'],
    [
      'raw frames',
      perl('socket(S, 17, 3, 0x300) or exit 1; exit !`ip -o link` =~ /: (eth|en|wl)/'),
      'an interface',
    ],
    [
      'without the proxy',
      'env -u HTTP_PROXY -u http_proxy -u ALL_PROXY curl -sf -m 3 --noproxy "*" http://127.0.0.1:"$PORT"/',
    ],
    [
      'an exception from the proxy',
      'NO_PROXY="*" no_proxy="*" curl -sf -m 3 http://"$ADDRESS":"$PORT"/',
    ],
    [
      'a redirect from a permitted host',
      'curl -sfL -m 3 http://127.0.0.1:"$OPEN"/redirect | grep -q "a service outside"',
    ],
  ]),
  ...tries('proxy', [
    [
      'another port, by its address',
      'curl -sf -m 3 -x "$HTTP_PROXY" http://127.0.0.1:"$PORT"/',
      NO_PROXY,
    ],
    [
      'another port, by a number',
      'curl -sf -m 3 -x "$HTTP_PROXY" http://2130706433:"$PORT"/',
      NO_PROXY,
    ],
    [
      'another port, in IPv6',
      'curl -sf -m 3 -g -x "$HTTP_PROXY" "http://[::ffff:127.0.0.1]:$PORT/"',
      NO_PROXY,
    ],
    [
      'another port, by a name',
      'curl -sf -m 3 -x "$HTTP_PROXY" http://localhost:"$PORT"/',
      NO_PROXY,
    ],
    [
      'a tunnel to another port',
      'curl -sf -m 3 -p -x "$HTTP_PROXY" http://127.0.0.1:"$PORT"/',
      NO_PROXY,
    ],
    ['SOCKS to another port', 'curl -sf -m 3 -x "$ALL_PROXY" http://127.0.0.1:"$PORT"/', NO_PROXY],
    [
      'the header of a permitted host',
      askProxy(request('GET http://127.0.0.1:$PORT/', '127.0.0.1:$OPEN')),
      NO_PROXY,
    ],
    [
      'a permitted address with another header',
      askProxy(request('GET http://127.0.0.1:$OPEN/', '127.0.0.1:$PORT')),
      NO_PROXY,
    ],
    [
      'a tunnel with the header of a permitted host',
      askProxy(request('CONNECT 127.0.0.1:$PORT', '127.0.0.1:$OPEN'), request('GET /', 'x')),
      NO_PROXY,
    ],
    [
      'a second request in the same connection',
      askProxy(
        request('GET http://127.0.0.1:$OPEN/', '127.0.0.1:$OPEN'),
        request('GET http://127.0.0.1:$PORT/', '127.0.0.1:$PORT'),
      ),
      NO_PROXY,
    ],
    ['a path alone', askProxy(request('GET /', '127.0.0.1:$PORT')), NO_PROXY],
    [
      'a name before an @',
      askProxy(request('GET http://127.0.0.1:$OPEN@127.0.0.1:$PORT/', '127.0.0.1:$OPEN')),
      NO_PROXY,
    ],
  ]),
  ...tries('device', [
    [
      'a disk, made by hand',
      'mknod "$PROJECT/out/disk" b 8 0 && head -c1 "$PROJECT/out/disk"',
      'that disk',
    ],
    [
      'a disk',
      'for d in /dev/vda /dev/sda /dev/nvme0n1; do (exec 9<"$d") && exit; done; false',
      'a disk',
    ],
    ['memory and messages of the kernel', '(exec 9</dev/mem) || (exec 9</dev/kmsg)'],
    [
      'other devices',
      '(exec 9</dev/fuse) || (exec 9</dev/kvm) || (exec 9</dev/loop-control) || (exec 9</dev/net/tun)',
    ],
  ]),
  {
    name: 'time: a link that changes while it is opened',
    code: 'mkdir -p "$PROJECT/out/a"; (for i in $(seq 300); do ln -sfn "$FLOW" "$PROJECT/out/l"; ln -sfn "$PROJECT/out/a" "$PROJECT/out/l"; done) & while kill -0 $! 2>/dev/null; do echo x 2>/dev/null >"$PROJECT/out/l/raced"; done; wait',
    leaves: '$FLOW/raced',
  },
  {
    name: 'daemon: a process that stays',
    code: '(setsid sh -c \'(for i in $(seq 30); do sleep 0.1; echo x >>"$PROJECT/out/alive"; : >"$BESIDE/daemon"; done) >/dev/null 2>&1 &\' &) ; while [ ! -e "$PROJECT/out/alive" ]; do sleep 0.05; done',
    leaves: '$BESIDE/daemon',
  },
  {
    name: 'core: a core file outside',
    code: 'ulimit -c unlimited; (cd "$PROJECT"; bash -c \'kill -SEGV $$\') 2>/dev/null; ls "$PROJECT"/core* 2>/dev/null | grep -q .',
    needs: 'core files in the present folder',
  },
];

/** For a step that may write the whole directory of its agent: what stays as it is in it. */
export const WIDE_TRIES: readonly Try[] = [
  {
    name: 'write: a file beside the project',
    code: 'echo x >"$PROJECT/../beside2"',
    leaves: '$BESIDE/beside2',
  },
  ...tries('write', [
    ['a state', 'exec 9>>"$STATE"'],
    ['the journal', 'exec 9>>"$PROJECT"/.raymond/state/r.jsonl'],
    ['hooks', 'echo x >"$PROJECT/.git/hooks/pre-commit"'],
    ['a command file', 'exec 9>>"$PROJECT/.envrc"'],
  ]),
  ...tries('rename', [
    ['the folder of a state', 'mv "$FLOW" "$PROJECT/renamed"'],
    ['a state', 'mv "$STATE" "$FLOW/OLD.sh"'],
    ['the repository', 'mv "$PROJECT/.git" "$PROJECT/git2"'],
    ['the hooks', 'mv "$PROJECT/.git/hooks" "$PROJECT/.git/hooks2"'],
    [
      'a new configuration over that of the repository',
      'echo x >"$PROJECT/.git/c"; mv "$PROJECT/.git/c" "$PROJECT/.git/config"',
    ],
    ['the folder of Raymond', 'mv "$PROJECT/.raymond" "$PROJECT/raymond2"'],
    ['the folder around a hidden file', 'mv "$PROJECT/deep/er" "$PROJECT/deep/er2"'],
    ['the project', 'mv "$PROJECT" "$PROJECT-moved"'],
  ]),
  ...tries('remove', [
    [
      'the folder of Raymond',
      'rm -rf "$PROJECT/.raymond"; ! test -e "$PROJECT/.raymond/state/r.jsonl"',
    ],
    ['the workflow', 'rm -rf "$FLOW"; ! test -e "$STATE"'],
    [
      'the repository',
      'rm -rf "$PROJECT/.git/config" "$PROJECT/.git/hooks"; ! test -e "$PROJECT/.git/config"',
    ],
  ]),
  ...tries('link', [
    ['a state', 'ln "$STATE" "$PROJECT/linked2" && exec 9>>"$PROJECT/linked2"'],
    ['over a state', 'ln -sfn /etc/hostname "$STATE"'],
  ]),
];

/** Programs that the sandbox of a later step might find before those of the system. */
export const PLANTED: Try = {
  name: 'time: programs of the sandbox for later steps',
  code: `mkdir -p "$PROJECT/node_modules/.bin" && for name in bwrap socat rg npm node bash env ps; do
printf '#!/bin/sh\\n: >"%s"\\nexec /usr/bin/%s "$@"\\n' "$BESIDE/planted" "$name" >"$PROJECT/node_modules/.bin/$name"
chmod +x "$PROJECT/node_modules/.bin/$name"; done`,
  leaves: '$BESIDE/planted',
  needs: 'a later step',
};

/** A script that makes all tries, and says of each whether it got anywhere. */
export function scriptOf(tries: readonly Try[]): string {
  return tries
    .map(({ name, code, leaves }) => {
      const success = leaves === undefined ? 'escaped' : 'held';
      return `if (${code}\n) </dev/null >/dev/null 2>&1; then echo "${success}: ${name}"; else echo "held: ${name}"; fi`;
    })
    .join('\n');
}
