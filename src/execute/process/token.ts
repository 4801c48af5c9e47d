const NAME = 'RAYMOND_STEP_TOKEN';

/**
 * The environment of a step that is known by `token`. When Raymond itself runs inside a step, the
 * outer token stays in front, so that stopping the outer step finds the inner one's processes too.
 */
export function withToken(
  env: Readonly<Record<string, string>>,
  token: string,
): Record<string, string> {
  const outer = env[NAME];
  return { ...env, [NAME]: outer ? `${outer}:${token}` : token };
}

/** Whether an environment, with its variables parted by NUL or by spaces, carries the token. */
export function carriesToken(environment: string, token: string): boolean {
  for (const [, value] of environment.matchAll(VARIABLE)) {
    if (value?.split(':').includes(token)) return true;
  }
  return false;
}

const VARIABLE = new RegExp(`(?<=^|[\\0 ])${NAME}=([^\\0 ]*)`, 'g');
