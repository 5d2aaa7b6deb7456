import { InlayError, llmProvidersSchema, type LlmProviders } from '@inlay/protocol'
import { localModelChangeSchema, localModelsSchema, type LocalModels } from '@inlay/protocol/administration'
import type { LocalModelAdministration } from '../../administration/local-models.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { toProviders } from '../chat/catalog.ts'

const route = routesOf('Models', { scope: 'admin', owner: 'any' })
const configured = 'Models are named by the settings of the deployment (INLAY_MODELS), not over the API.'

/** Model providers, for administrators. */
export const modelAdministrationRoutes: readonly Route[] = [
  route('GET /admin/llm/provider', 'listModelProviders', 'List providers of models', {
    description: `As \`/llm/provider\`. ${configured} Keys and addresses are not shown.`,
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    async handle({ parts }): Promise<LlmProviders> {
      const { providers, ...defaults } = toProviders(await parts.agent.models())
      return { providers: providers.map((provider) => ({ ...provider, ...unshown })), ...defaults }
    },
  }),
  route('GET /admin/local-models', 'listLocalModels', 'List models of this machine', {
    description:
      'What Ollama, LM Studio and llama.cpp offer on the machine of the server, and whether one of their models ' +
      'answers. Nothing is used before somebody chooses it. Empty where the deployment names its models.',
    answer: { description: 'The available models.', schema: localModelsSchema },
    handle: async ({ parts }): Promise<LocalModels> => parts.localModels?.list() ?? { servers: [], chosen: null },
  }),
  route('PUT /admin/local-models', 'chooseLocalModel', 'Let a model of this machine answer', {
    description:
      'From the next message on, also after a restart. Questions and the passages found for them then go to that ' +
      'program. `choice: null` undoes it.',
    input: { body: { kind: 'json', schema: localModelChangeSchema, limit: 'otherBytes' } },
    answer: { description: 'The available models.', schema: localModelsSchema },
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    handle: ({ body, parts }): Promise<LocalModels> => localModelsOf(parts).choose(body.choice),
  }),
]

function localModelsOf({ localModels }: ServerParts): LocalModelAdministration {
  if (localModels !== undefined) return localModels
  throw new InlayError('NOT_IMPLEMENTED', { message: configured })
}

/** Fields of a provider that only its operator knows. */
const unshown = {
  api_key: null,
  custom_config: null,
  api_base: null,
  api_version: null,
  deployment_name: null,
  is_public: true,
  is_auto_mode: false,
  groups: [],
  personas: [],
}
