/** The permission requests of one turn, and the replies to them. */
import type { AskPerson } from '../../ports.ts';
import { PermissionRelay } from '../turn/permission-relay.ts';
import type { Happening } from './messages.ts';
import { type Asked, describeRequest, replyTo } from './permission-request.ts';

interface TurnPermissionsParts {
  readonly ask: AskPerson;
  /** Sends a line to the process. */
  readonly send: (line: string) => void;
  /** Called when the turn begins to wait for a person, and when it continues. */
  readonly onRest: (isResting: boolean) => void;
  /** The process now has these rules. */
  readonly onGranted: (rules: readonly string[]) => void;
}

export class TurnPermissions extends PermissionRelay<Asked> {
  constructor({ ask, send, onRest, onGranted }: TurnPermissionsParts) {
    super({
      ask,
      onRest,
      describe: describeRequest,
      reply: (asked, decision) => {
        send(replyTo(asked, decision));
        if (decision.decision === 'allow-run') onGranted(describeRequest(asked).rules ?? []);
      },
    });
  }

  handle(happening: Happening): void {
    switch (happening.kind) {
      case 'permission-asked':
        this.asked(happening);
        break;
      case 'permission-cancelled':
        this.withdraw(happening.request);
        break;
      case 'tool-results':
        // A call that has its result no longer waits, whoever allowed it.
        for (const { request, call } of this.open)
          if (happening.calls.includes(call)) this.withdraw(request);
        break;
      case 'result':
        this.withdrawAll();
        break;
    }
  }
}
