// What `check.js` does about failed tests. A test that fails once and then passes by itself is
// unsteady. That does not stop a change that has nothing to do with the test, but it is shown as the
// bug that it is: see CONTRIBUTING.md.

/** More failures than these come from the change, not from unsteady tests. */
export const MOST_REPEATED = 3;

/** The test files to run a second time; none if the first run decides. */
export function filesToRepeat(report) {
  if (report === undefined || report.otherErrors.length > 0) return [];
  const { failures } = report;
  return failures.length > MOST_REPEATED ? [] : [...new Set(failures.map(({ file }) => file))];
}

/** Compares the two runs. Without a report, the second run has failed in an unknown way. */
export function compareRuns(first, second) {
  if (second === undefined) return { failed: first.failures, unsteady: [] };
  const isSame = (one) => (other) => one.file === other.file && one.name === other.name;
  const failed = second.failures.map((failure) => {
    const before = first.failures.find(isSame(failure));
    return before ? { ...failure, firstMessage: before.message } : failure;
  });
  const unsteady = first.failures.filter((one) => !second.failures.some(isSame(one)));
  return { failed: [...failed, ...second.otherErrors.map(asFailure)], unsteady };
}

/** All that a run reported, whether a test failed or something outside of the tests. */
export function everyFailure({ failures, otherErrors }) {
  return [...failures, ...otherErrors.map(asFailure)];
}

const asFailure = (message) => ({ file: '', name: 'an error outside of the tests', message });

const MOST_SHOWN = 20;

/** A short list, because often only the end of an output is kept. */
export function failedText(failures) {
  const rest = failures.length - MOST_SHOWN;
  return [
    '',
    `FAILED (${failures.length})`,
    ...failures.slice(0, MOST_SHOWN).flatMap(failureLines),
    ...(rest > 0 ? [`... and ${rest} more`] : []),
  ].join('\n');
}

export function unsteadyText(failures) {
  return [
    '',
    `UNSTEADY (${failures.length})`,
    'These tests failed, and passed when their files ran a second time by themselves.',
    'This is a bug in the test or in the product. Fix it before anything else.',
    ...failures.flatMap(failureLines),
  ].join('\n');
}

function failureLines({ file, name, message, firstMessage }) {
  const isRepeated = firstMessage !== undefined && firstMessage !== message;
  return [
    '',
    `- ${file} > ${name}`,
    ...messageLines(message),
    ...(isRepeated ? ['    In the first run:', ...messageLines(firstMessage)] : []),
  ];
}

const MOST_LINES = 15;
const MOST_COLUMNS = 200;

function messageLines(message) {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, MOST_LINES).map((line) => `    ${line.slice(0, MOST_COLUMNS)}`);
}
