import { type Executable, findNamed } from '../find-program.ts';

/** The program of an agent that speaks the Agent Client Protocol. */
export function findAcp(
  name: string,
  { command: [program = ''], install }: { command: readonly string[]; install?: string },
  environment: Readonly<Record<string, string | undefined>>,
): Executable {
  const path = findNamed(program, environment.PATH);
  if (path !== undefined) return { found: true, path };
  return {
    found: false,
    problem: `The program "${program}" of the agent ${name} does not exist.`,
    remedy: `${install ?? 'Install it,'} or name another one as command in [agents.${name}] of your config file.`,
  };
}
