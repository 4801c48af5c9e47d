/**
 * A filter of system calls for bubblewrap, in the form of the kernel (classic BPF). Namespaces do not cover
 * everything: sockets to the host of a virtual machine, keyrings, and sockets that are files would stay in
 * reach. See seccomp(2).
 */

/** Which sockets a process can make, beside those of IP and netlink. */
export type Sockets = 'no files' | 'files';

/** Undefined on a processor for which the numbers of the calls are unknown. */
export function callFilter(arch: string, sockets: Sockets): Buffer | undefined {
  const calls = CALLS[arch];
  if (calls === undefined) return undefined;
  const families = [...FAMILIES, ...(sockets === 'files' ? [AF_UNIX] : [])];
  return Buffer.concat([
    load(ARCHITECTURE),
    // Programs of another architecture, such as 32-bit ones, have other numbers for the same calls.
    ...unlessEqual(calls.architecture, [answer(KILL)]),
    load(NUMBER),
    ...(calls.foreign === undefined
      ? []
      : [jump(AT_LEAST, calls.foreign, 0, 1), answer(refusal(ENOSYS))]),
    ...calls.refused.flatMap((call) => [jump(EQUAL, call, 0, 1), answer(refusal(EPERM))]),
    // Programs have another way without these. The flags of `clone3` are out of reach for a filter.
    ...calls.unknown.flatMap((call) => [jump(EQUAL, call, 0, 1), answer(refusal(ENOSYS))]),
    ...forCall(calls.socket, 0, [
      ...families.flatMap((family) => [jump(EQUAL, family, 0, 1), answer(ALLOW)]),
      answer(refusal(EPERM)),
    ]),
    ...[calls.clone, calls.unshare].flatMap((call) =>
      forCall(call, 0, [
        jump(ANY_OF, CLONE_NEWCGROUP, 0, 1),
        answer(refusal(EPERM)),
        answer(ALLOW),
      ]),
    ),
    ...forCall(calls.ioctl, 1, [
      ...TERMINAL_INPUT.flatMap((request) => [jump(EQUAL, request, 0, 1), answer(refusal(EPERM))]),
      answer(ALLOW),
    ]),
    answer(ALLOW),
  ]);
}

interface Calls {
  readonly architecture: number;
  /** Numbers from here on belong to another form of all calls. */
  readonly foreign?: number;
  readonly socket: number;
  readonly clone: number;
  readonly unshare: number;
  readonly ioctl: number;
  readonly refused: readonly number[];
  readonly unknown: readonly number[];
}

const CALLS: Readonly<Record<string, Calls>> = {
  x64: {
    architecture: 0xc000003e,
    foreign: 0x40000000,
    ...{ socket: 41, clone: 56, unshare: 272, ioctl: 16 },
    // add_key, request_key, keyctl, kexec_load, kexec_file_load, perf_event_open, bpf, userfaultfd,
    // open_by_handle_at
    refused: [248, 249, 250, 246, 320, 298, 321, 323, 304],
    // io_uring_setup, io_uring_enter, io_uring_register, clone3
    unknown: [425, 426, 427, 435],
  },
  arm64: {
    architecture: 0xc00000b7,
    ...{ socket: 198, clone: 220, unshare: 97, ioctl: 29 },
    refused: [217, 218, 219, 104, 294, 241, 280, 282, 265],
    unknown: [425, 426, 427, 435],
  },
};

const AF_UNIX = 1;
/** IPv4, IPv6 and netlink, all of which belong to a network namespace. */
const FAMILIES = [2, 10, 16];

/** A new one could be mounted, and its files end processes outside. */
const CLONE_NEWCGROUP = 0x02000000;

/** TIOCSTI and TIOCLINUX type into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;

// Places in `struct seccomp_data`.
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (at: number) => 16 + 8 * at;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refusal = (error: number) => 0x00050000 + error;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_OF = 0x45;
const RETURN = 0x06;

const load = (from: number) => instruction(LOAD, 0, 0, from);
const answer = (what: number) => instruction(RETURN, 0, 0, what);
const jump = (test: number, value: number, ifTrue: number, ifFalse: number) =>
  instruction(test, ifTrue, ifFalse, value);

const unlessEqual = (value: number, then: readonly Buffer[]) => [
  jump(EQUAL, value, then.length, 0),
  ...then,
];

/** Instructions about an argument of one call. They have to end with an answer. */
const forCall = (call: number, at: number, then: readonly Buffer[]) => [
  jump(EQUAL, call, 0, then.length + 1),
  load(argument(at)),
  ...then,
];

function instruction(code: number, ifTrue: number, ifFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
