import {
  InlayError,
  llmProviderSchema,
  llmProvidersSchema,
  queryBoolean,
  queryInteger,
  type LlmProviders,
} from '@inlay/protocol'
import {
  defaultModelChangeSchema,
  localModelChangeSchema,
  localModelsSchema,
  modelProviderChangeSchema,
  modelTestRequestSchema,
  modelTestSchema,
} from '@inlay/protocol/administration'
import * as v from 'valibot'
import { needed } from '../../administration/workspace-of.ts'
import type { ModelAdministration } from '../../administration/added-models.ts'
import type { LocalModelAdministration } from '../../administration/local-models.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'
import { toProviders } from '../chat/catalog.ts'

const route = routesOf('Models', { scope: 'admin', owner: 'any' })
const configured = 'Models are configured by the deployment (INLAY_MODELS), not over the API.'
const flag = (description: string) => v.pipe(v.optional(queryBoolean, 'false'), v.description(description))
const providerPath = v.object({ provider_id: queryInteger({}) })

export const modelAdministrationRoutes: readonly Route[] = [
  route('GET /admin/llm/provider', 'listModelProviders', 'List providers of models', {
    description:
      'Same as `/llm/provider`, with the addresses of providers that administrators added, and whether they have a key. ' +
      'Keys are never shown.',
    answer: { description: 'The models by provider.', schema: llmProvidersSchema },
    handle: ({ parts }) => providersOf(parts),
  }),
  route('PUT /admin/llm/provider', 'putModelProvider', 'Add or change a provider of models', {
    description:
      'Its models are offered from the next message on, beside those that the deployment configures. The key is stored ' +
      'encrypted, for this address alone, and never returned.',
    input: {
      query: v.object({ is_creation: flag('Whether the provider must not exist yet; otherwise it must') }),
      body: modelProviderChangeSchema,
    },
    answer: { description: 'The provider.', schema: llmProviderSchema },
    errors: ['NOT_FOUND', 'DUPLICATE_RESOURCE', 'VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ query, body, parts }) {
      const id = await addedModelsOf(parts).save(body, query.is_creation)
      const saved = (await providersOf(parts)).providers.find((provider) => provider.id === id)
      if (saved) return saved
      throw new InlayError('NOT_FOUND', { message: 'Somebody else removed the provider in the meantime.' })
    },
  }),
  route('DELETE /admin/llm/provider/{provider_id}', 'deleteModelProvider', 'Remove a provider of models', {
    description: 'Only providers that administrators added. The one of the default model only with `force`.',
    input: {
      path: providerPath,
      query: v.object({ force: flag('Whether to remove the provider of the default model, too') }),
    },
    answer: { description: 'Removed.', schema: v.null() },
    errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    handle: ({ path, query, parts }) => addedModelsOf(parts).remove(path.provider_id, query.force),
  }),
  route('POST /admin/llm/default', 'setDefaultModel', 'Choose the default model', {
    description: 'A model that an administrator added, or the configured default again.',
    input: { body: defaultModelChangeSchema },
    answer: { description: 'Chosen.', schema: v.null() },
    errors: ['VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    handle: ({ body, parts }) => addedModelsOf(parts).chooseDefault(body),
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

const localModelsOf = ({ localModels }: ServerParts): LocalModelAdministration => needed(localModels, configured)
const addedModelsOf = ({ addedModels }: ServerParts): ModelAdministration => needed(addedModels, configured)

/** Stands for a key that is set. */
const maskedKey = '********'

async function providersOf({ agent, addedModels }: ServerParts): Promise<LlmProviders> {
  const [{ providers, ...defaults }, added = []] = await Promise.all([
    agent.models().then((models) => toProviders(models)),
    addedModels?.list(),
  ])
  const shown = providers.map((provider) => {
    const own = added.find(({ id }) => id === provider.id)
    const access = { api_key: own?.hasKey ? maskedKey : null, api_base: own?.baseUrl ?? null }
    return { ...provider, ...unshown, ...access, is_added: own !== undefined }
  })
  return { providers: shown, ...defaults }
}

/** What providers here do not have. */
const unshown = {
  custom_config: null,
  api_version: null,
  deployment_name: null,
  is_public: true,
  is_auto_mode: false,
  groups: [],
  personas: [],
}
