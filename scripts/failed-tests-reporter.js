// A reporter of vitest. It writes what failed to the file that FAILED_TESTS names, for `check.js`.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export default class FailedTestsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const file = process.env.FAILED_TESTS;
    if (file === undefined) return;
    const report = {
      failures: modules.flatMap(failuresIn),
      otherErrors: unhandledErrors.map(textOf),
    };
    writeFileSync(file, JSON.stringify(report));
  }
}

/** The tests that failed, and the suites whose hooks did. */
function failuresIn(module) {
  const file = relative(process.cwd(), module.moduleId);
  const failure = (name, errors) => ({ file, name, message: errors.map(textOf).join('\n') });
  const suites = [module, ...module.children.allSuites()].filter((one) => one.errors().length > 0);
  return [
    ...suites.map((suite) => failure(suite.fullName ?? 'the file', suite.errors())),
    ...[...module.children.allTests('failed')].map((test) =>
      failure(test.fullName, test.result().errors),
    ),
  ];
}

function textOf({ message, diff, stacks }) {
  const frame = stacks?.[0];
  const place = frame && `at ${relative(process.cwd(), frame.file)}:${frame.line}`;
  return stripVTControlCharacters([message, place, diff].filter(Boolean).join('\n'));
}
