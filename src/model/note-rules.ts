/** A path of up to three folders and a file, without names that are hidden or special anywhere. */
const isPath = (path: string) => path.length <= 200 && NOTE_PATH.test(path);

const NOTE_PATH = /^(?:[\p{L}\p{N}][\p{L}\p{N}_ .-]*\/){0,3}[\p{L}\p{N}][\p{L}\p{N}_ .-]*$/u;

/** Notes are small, because they are part of the journal. */
export const NOTE_RULES = {
  isPath,
  most: { files: 100, bytes: 32 * 1024, allBytes: 128 * 1024 },
} as const;
