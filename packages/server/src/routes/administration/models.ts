import { InlayError, llmProvidersSchema } from '@inlay/protocol'
import {
  localModelChangeSchema,
  localModelsSchema,
  modelTestRequestSchema,
  modelTestSchema,
} from '@inlay/protocol/administration'
import type { LocalModelAdministration } from '../../administration/local-models.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { toProviders } from '../chat/catalog.ts'

const route = routesOf('Models', { scope: 'admin', owner: 'any' })
const configured = 'Models are configured by the deployment (INLAY_MODELS), not over the API.'

/** Model providers, for administrators. */
export const modelAdministrationRoutes: readonly Route[] = [
  route('GET /admin/llm/provider', 'listModelProviders', 'List providers of models', {
    description: `Same as \`/llm/provider\`. ${configured} Keys and addresses are not shown.`,
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    async handle({ parts }) {
      const { providers, ...defaults } = toProviders(await parts.agent.models())
      return { providers: providers.map((provider) => ({ ...provider, ...unshown })), ...defaults }
    },
  }),
  route('GET /admin/local-models', 'listLocalModels', 'List models served on this machine', {
    description:
      'Lists the models that Ollama, LM Studio and llama.cpp serve on this machine, and which of ' +
      'them is selected. None is used until an administrator selects it. Empty if the deployment ' +
      'configures its models.',
    answer: { description: 'The available models.', schema: localModelsSchema },
    handle: async ({ parts }) => parts.localModels?.list() ?? { servers: [], chosen: null },
  }),
  route('PUT /admin/local-models', 'chooseLocalModel', 'Select a model served on this machine', {
    description:
      'Takes effect with the next message and survives restarts. Questions and the passages found ' +
      'for them are then sent to that program. `choice: null` deselects the model.',
    input: { body: localModelChangeSchema },
    answer: { description: 'The available models.', schema: localModelsSchema },
    errors: ['NOT_FOUND', 'NOT_IMPLEMENTED'],
    handle: ({ body, parts }) => localModelsOf(parts).choose(body.choice),
  }),
  route('POST /admin/llm/test', 'testModel', 'Test a model', {
    readsOnly: true,
    description:
      'Asks the model one short question, without documents and tools. Answers 200 also when the model fails, with the reason.',
    input: { body: modelTestRequestSchema },
    answer: { description: 'How the model answered.', schema: modelTestSchema },
    errors: ['VALIDATION_ERROR'],
    async handle({ body, parts }) {
      const isDefault = body.model_provider === null && body.model_version === null
      const trial = await parts.agent.tryModel(isDefault ? null : { ...body, temperature: null })
      return {
        model_provider: trial.provider,
        model_version: trial.name,
        ok: trial.error === null,
        text: trial.text,
        error: trial.error,
        error_code: trial.errorCode,
        duration_ms: trial.durationMs,
      }
    },
  }),
]

function localModelsOf({ localModels }: ServerParts): LocalModelAdministration {
  if (localModels !== undefined) return localModels
  throw new InlayError('NOT_IMPLEMENTED', { message: configured })
}

/** Fields of a provider that only its operator may see. */
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
