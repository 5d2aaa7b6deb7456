import type { MinimalPersona } from '@inlay/protocol'
import { texts } from '../texts/texts.ts'

interface AgentChoiceProps {
  readonly agents: readonly MinimalPersona[]
  readonly agentId: number
  readonly choose: (agentId: number) => void
}

/** Selects the agent of a new chat; empty if there is only the assistant itself. */
export function AgentChoice({ agents, agentId, choose }: AgentChoiceProps) {
  if (agents.length < 2) return null
  return (
    <label class="agent-choice u-note u-block">
      {texts.chat.answeredBy}{' '}
      <select value={agentId} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {agents.map(({ id, name, description }) => (
          <option key={id} value={id} title={description}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
