import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

/**
 * A workflow that forks children. Each reports itself, waits at the gate, and continues to DONE, which
 * gives its number as the result. They wait without using the processor.
 */
export class Crew {
  readonly project: Project;
  readonly size: number;

  constructor(size: number) {
    this.size = size;
    this.project = newProject({
      'crew/START.sh': `
i=0
while [ $((i += 1)) -le ${size} ]; do echo "<fork number=\\"$i\\">WORK</fork>"; done
echo '<goto>MAIN</goto>'`,
      'crew/MAIN.sh': `echo '<result>all are sent</result>'`,
      'crew/WORK.sh': `
echo "$number try $RAYMOND_ATTEMPT" >>here
[ -e open ] || read -r _ <gate
if [ -e "fails-$number" ]; then echo "no $number today" >&2; exit 3; fi
echo '<goto>DONE</goto>'`,
      'crew/DONE.sh': `
echo "$number" >>done
echo "<result>$number</result>"`,
    });
    spawnSync('mkfifo', [this.project.path('gate')]);
  }

  start(...options: string[]) {
    return this.project.start(['crew', '--workflow-id', 'crew', ...options]);
  }

  resume(...options: string[]) {
    return this.project.start(['resume', 'crew', ...options]);
  }

  here(): string[] {
    return this.project.lines('here');
  }

  done(): string[] {
    return this.project.lines('done');
  }

  numbers(): string[] {
    return Array.from({ length: this.size }, (_, i) => String(i + 1));
  }

  gathered(count = this.size): Promise<void> {
    return eventually(`${count} children are here`, () => this.here().length >= count);
  }

  /** Lets all children through, those that wait and later ones. */
  openGate(): void {
    writeFileSync(this.project.path('open'), '');
    try {
      closeSync(openSync(this.project.path('gate'), constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // No child waits.
    }
  }

  /** Repeats until all children passed, because one may have checked the gate just before it opened. */
  async letThrough(): Promise<void> {
    await eventually('all went through the gate', () => {
      this.openGate();
      return this.done().length >= this.size;
    });
  }

  events(type: string) {
    return this.project.journal('crew').filter((event) => event.type === type);
  }
}
