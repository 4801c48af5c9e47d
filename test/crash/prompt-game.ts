/**
 * Prompts that hand over, call, fork and join, ask for permissions and put a question. A person answers
 * while Raymond, its steps or its agents are killed.
 *
 * The agent is a program that speaks like Claude Code. Each call that needs permission writes a note, so
 * that one that happens twice, or not at all, is noticed.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Project } from '../raymond.ts';
import { RUN } from './moments.ts';

const REQUEST = 'AGENT={{agent_id}} STATE={{state}} ITEM={{item}} N={{input}};\n';

const STATES = 'START WORK DEEP SUB INNER BACK KID LATER JOINED ASKED'.split(' ');

export const PROMPT_WORKFLOW: Readonly<Record<string, string>> = {
  'prompts/workflow.yaml': 'handover: NOTES\n',
  'prompts/NOTES.md': 'HANDOVER of {{agent_id}} at {{state}};\n',
  ...Object.fromEntries(STATES.map((state) => [`prompts/${state}.md`, REQUEST])),
};

const AGENT = `#!/bin/bash
tell() { printf '%s\\n' "$1"; }
session=none
while [ $# -gt 0 ]; do
  case $1 in --session-id) session=$2 ;; --resume) [ "$session" != none ] || session=$2 ;; esac
  shift
done
# Waits for the decision of a person, and does it once it is allowed.
permit() {
  tell '{"type":"control_request","request_id":"'"$session-$RANDOM$RANDOM"'","request":{"subtype":"can_use_tool","tool_use_id":"t'"$RANDOM"'","tool_name":"Bash","input":{"command":"note '"$1"'"}}}'
  while IFS= read -r reply; do
    case $reply in
    *'"control_request"'*) grant "$reply" ;;
    *'"behavior":"allow"'*) printf '%s\\n' "$1 allowed try=?" >>"$LOG"; return ;;
    *'"behavior":"deny"'*) printf '%s\\n' "$1 denied try=?" >>"$LOG"; return ;;
    esac
  done
  exit 1
}
grant() {
  local id=\${1#*'"request_id":"'}
  tell '{"type":"control_response","response":{"request_id":"'"\${id%%\\"*}"'","subtype":"success"}}'
}
work() {
  case $2 in
  START.md) said="<goto input='1'>WORK</goto>" ;;
  WORK.md)
    permit "$1 work $4"
    if [ "$4" -lt 3 ]; then said="<goto input='$(($4 + 1))'>WORK</goto>"
    else said="<compact input='4'>DEEP</compact>"; fi ;;
  DEEP.md) said="<call return='BACK' input='1'>SUB</call>" ;;
  SUB.md) permit "$1 sub"; said="<compact input='$4'>INNER</compact>" ;;
  INNER.md) said="<result>depth $4</result>" ;;
  BACK.md)
    said=
    for kid in 1 2 3; do said+="<fork item='$kid' input='1'>KID</fork>"; done
    said+="<join>JOINED</join>" ;;
  KID.md)
    case $4$3 in
    12) said="<function return='LATER' input='$3'>SUB</function>" ;;
    1*) permit "$1 kid $3"; said="<goto input='2'>KID</goto>" ;;
    2*) said="<compact input='3'>LATER</compact>" ;;
    esac ;;
  LATER.md) said="<result>kid $3</result>" ;;
  JOINED.md) said="<ask next='ASKED'>Shall we finish?</ask>" ;;
  ASKED.md) said="<result>all done</result>" ;;
  esac
}
while IFS= read -r line; do
  case $line in
  *'"control_request"'*) grant "$line"; continue ;;
  *'"type":"user"'*) ;;
  *) continue ;;
  esac
  # A prompt is written again if nobody knows whether it was read. Claude Code ignores the second one.
  uuid=\${line##*'"uuid":"'} uuid=\${uuid%%'"'*}
  case " $seen " in *" $uuid "*) continue ;; esac
  seen+=" $uuid"
  tell '{"type":"system","subtype":"init","session_id":"'"$session"'","model":"x","claude_code_version":"2.1.325"}'
  # A continuation names no request. The last one of the session is meant.
  case $line in *HANDOVER\\ of*)
    request=\${line#*HANDOVER of }
    echo "handover \${request%%;*}" >"$PLACE/requests/$session" ;;
  *AGENT=*)
    request=\${line#*AGENT=}
    from=; case $line in *'<handover>'*) from=' from a handover' ;; esac
    echo "\${request%%;*}$from" | sed 's/STATE=//; s/ITEM=//; s/ N=/ /' >"$PLACE/requests/$session" ;;
  esac
  read -r agent state item n rest <"$PLACE/requests/$session"
  case $agent in
  handover) said="what $state knows"; printf '%s\\n' "$state hands over at $n try=?" >>"$LOG" ;;
  *)
    # An array or an answer is no number, and costs depend on the number of attempts.
    case $n in *[!0-9]*) n=- ;; esac
    work "$agent" "$state" "$item" "$n"
    case $rest in *'from a handover'*) state+=' from a handover' ;; esac
    printf '%s\\n' "$agent $state $n try=?" >>"$LOG" ;;
  esac
  tell '{"type":"assistant","message":{"id":"m'"$RANDOM"'","model":"x","content":[{"type":"text","text":"'"$said"'"}],"usage":{}}}'
  tell '{"type":"result","subtype":"success","is_error":false,"result":"'"$said"'","total_cost_usd":0.01,"permission_denials":[],"stop_reason":"end_turn"}'
done
`;

/** Returns the environment of the game. */
export function preparePrompts(project: Project): Record<string, string> {
  const place = dirname(project.folder);
  mkdirSync(join(place, 'requests'));
  const agent = join(place, 'the-agent');
  writeFileSync(agent, AGENT);
  chmodSync(agent, 0o755);
  return {
    PLACE: place,
    LOG: project.path('log'),
    RAYMOND_CLAUDE: agent,
    // Each pause allows a retry.
    RAYMOND_RETRY_PAUSES_MS: Array(32).fill(1).join(','),
  };
}

/** The person, who allows every request and answers the question. Each call gives what is open. */
export function personOf(project: Project, env: Record<string, string>): () => Promise<void> {
  const given = new Set<string>();
  return async () => {
    for (const answer of openIn(project)) {
      const words = answer.join(' ');
      if (given.has(words)) continue;
      const { code } = await project.run(['answer', RUN, ...answer], { env });
      if (code === 0) given.add(words);
    }
  };
}

function openIn(project: Project): Iterable<readonly string[]> {
  const open = new Map<string, readonly string[]>();
  for (const event of project.journal(RUN)) {
    switch (event.type) {
      case 'permission-asked':
        open.set(event.request, ['allow', '--request', event.request]);
        break;
      case 'permission-answered':
      case 'permission-withdrawn':
        open.delete(event.request);
        break;
      case 'agent-asked':
        open.set(event.agent, ['yes', '--agent', event.agent]);
        break;
      case 'agent-moved':
        open.delete(event.agent);
        break;
      default:
    }
  }
  return open.values();
}
