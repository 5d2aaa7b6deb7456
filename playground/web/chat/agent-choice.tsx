import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ListedAgent, Service } from '../service/service.ts'

interface AgentChoiceProps {
  readonly service: Service
  readonly agentId: number
  readonly choose: (agentId: number) => void
}

/** Chooses who answers a new chat; nothing where there is only the assistant itself. */
export function AgentChoice({ service, agentId, choose }: AgentChoiceProps): JSX.Element | null {
  const [agents, setAgents] = useState<readonly ListedAgent[]>([])
  useEffect(() => {
    service.agents().then(setAgents, () => {})
  }, [service])
  if (agents.length < 2) return null
  return (
    <label class="agent-choice">
      Answered by{' '}
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
