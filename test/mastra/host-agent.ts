import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core'
import type { ObservabilityEntrypoint } from '@mastra/core/observability'
import { mastraAgent, type MastraAgentOptions } from '@inlay/mastra'
import { scriptedModel, type Script, type ScriptedModel } from '@inlay/agent/testing'
import type { ConversationsOptions } from '@inlay/conversations'
import { newSetting, type Setting } from '../agent/setting.ts'

type AgentConfig = ConstructorParameters<typeof Agent>[0]

export interface HostAgentSetting extends Omit<Setting, 'model'> {
  /** The model of the host's agent. */
  readonly model: ScriptedModel
  readonly personaId: number
  /** Sends a message to the host's agent. */
  ask(input?: Parameters<Setting['send']>[0]): ReturnType<Setting['send']>
}

/** An agent of Mastra that answers by a script, chosen by its persona. */
export async function newHostAgent(
  script: Script,
  config: Partial<AgentConfig> = {},
  options: MastraAgentOptions & {
    readonly inlay?: Partial<ConversationsOptions>
    readonly observability?: ObservabilityEntrypoint
  } = {},
): Promise<HostAgentSetting> {
  const model = scriptedModel(script)
  const agent = new Agent({
    id: 'guide',
    name: 'Guide',
    description: 'Knows the weather.',
    instructions: 'You are the guide of the host.',
    // Same specification; Mastra has the types of its own copy of the provider package.
    model: model as never,
    ...config,
  })
  const { inlay, observability, ...agentOptions } = options
  void new Mastra({ agents: { agent }, logger: false, ...(observability && { observability }) })
  const setting = await newSetting([], { ...inlay, hostAgents: [mastraAgent(agent, agentOptions)] })
  const personas = await setting.agent.personas.list({ id: 'ana', scopes: ['chat'] })
  const personaId = personas.find(({ hostAgent }) => hostAgent)?.id ?? 0
  const ask: HostAgentSetting['ask'] = (input = {}) =>
    setting.send({
      ...(input.chat_session_id ? {} : { chat_session_info: { persona_id: personaId } }),
      ...input,
    })
  return { ...setting, model, personaId, ask }
}
