import type { Client } from '@inlay/client'
import {
  InlayError,
  type LlmOverride,
  type LlmProviders,
  type MinimalPersona,
  type SendMessageInput,
} from '@inlay/protocol'
import { textOption, type CommandContext } from './command.ts'
import { flag, option, type CommandOption } from './shared-options.ts'

export const messageOptions: Readonly<Record<string, CommandOption>> = {
  agent: option('name', 'agent to use, by name or number (see inlay agents)'),
  model: option('provider/model', 'model to use (default: the default model of the installation)'),
  research: flag('deep research: a longer answer from many searches'),
}

export async function messageOptionsOf(context: CommandContext, client: Client): Promise<Partial<SendMessageInput>> {
  const [agent, model] = [textOption(context, 'agent'), textOption(context, 'model')]
  return {
    ...(agent !== undefined && { chat_session_info: { persona_id: (await findAgent(client, agent)).id } }),
    ...(model !== undefined && { llm_override: findModel(await client.models(), model) }),
    ...(context.options['research'] === true && { deep_research: true }),
  }
}

/** Finds an agent by name or number. @throws NOT_FOUND with the existing names */
export async function findAgent(client: Client, wanted: string): Promise<MinimalPersona> {
  const agents = await client.agents.list()
  const agent = agents.find(({ id, name }) => String(id) === wanted || name.toLowerCase() === wanted.toLowerCase())
  if (agent) return agent
  const names = agents.map(({ name }) => `"${name}"`).join(', ')
  throw new InlayError('NOT_FOUND', { message: `there is no agent "${wanted}". There are ${names}.` })
}

/** Finds a model by `provider/model` or by its name. @throws NOT_FOUND with the existing names */
export function findModel({ providers }: LlmProviders, wanted: string): LlmOverride {
  const known = providers.flatMap(({ name: provider, model_configurations: models }) =>
    models.map(({ name }) => ({ provider, name })),
  )
  const model = known.find(({ provider, name }) => `${provider}/${name}` === wanted || name === wanted)
  if (model) return { model_provider: model.provider, model_version: model.name }
  const names = known.map(({ provider, name }) => `${provider}/${name}`).join(', ')
  throw new InlayError('NOT_FOUND', { message: `there is no model "${wanted}". There are ${names}.` })
}
