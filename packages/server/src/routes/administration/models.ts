import { llmProvidersSchema, type LlmProviders } from '@inlay/protocol'
import { defineRoute, type Route } from '../../http/route.ts'
import { toProviders } from '../chat/catalog.ts'

const topic = 'Models'
const configured = 'Models are named by the settings of the deployment (INLAY_MODELS), not over the API.'

/** Providers of models as administrators see them. */
export const modelAdministrationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/admin/llm/provider',
    operationId: 'listModelProviders',
    scope: 'admin',
    owner: 'any',
    topic,
    summary: 'List providers of models',
    description: `As \`/llm/provider\`. ${configured} Keys and addresses are not shown.`,
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    async handle({ parts }): Promise<LlmProviders> {
      const { providers, ...defaults } = toProviders(await parts.agent.models())
      return { providers: providers.map((provider) => ({ ...provider, ...unshown })), ...defaults }
    },
  }),
]

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
