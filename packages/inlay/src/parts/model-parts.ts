import type { ModelProvider, SmallModels } from '@inlay/agent'
import { isModelObject } from '@inlay/drivers/official-providers'
import type { EgressOptions } from '@inlay/drivers/egress'
import type { AbilityRecords } from '@inlay/drivers/model-providers'
import { InlayError } from '@inlay/protocol'
import type { LocalModelAdministration, ModelAdministration, WorkspaceRecords } from '@inlay/server'
import type { InlayOptions } from '../options/inlay-options.ts'
import { isProvider, type LanguageModelChoice, type ModelOption } from '../options/model-options.ts'
import { currentSecret } from '../settings/secret-files.ts'
import { addedModelParts } from './added-models.ts'
import { localModelParts, offersLocalModels } from './local-model-parts.ts'
import type { Secrets } from './secrets.ts'

interface ModelParts {
  readonly models: ModelProvider
  readonly questionModel: ModelProvider | undefined
  readonly localModels: LocalModelAdministration
  readonly addedModels: ModelAdministration
}

/** The configured models, selectable local models if enabled, and those that administrators add. */
export async function modelParts(
  options: InlayOptions,
  workspace: WorkspaceRecords,
  { secrets, onError }: { readonly secrets: Secrets; readonly onError: (error: unknown) => void },
): Promise<ModelParts> {
  const make = (choices: ModelOption | undefined, egress?: EgressOptions): Promise<ModelProvider> =>
    configuredModels(choices, onError, { abilities: abilitiesIn(workspace), egress })
  const configured = await make(options.model)
  const local = localModelParts({ configured, workspace, make })
  const added = addedModelParts({
    configured: offersLocalModels(options) ? local.models : configured,
    workspace,
    secrets,
    make: (choices) => make(choices, options.egress ?? {}),
    onError,
  })
  return {
    ...local,
    ...added,
    questionModel: options.questionModel === undefined ? undefined : await make(options.questionModel),
  }
}

/** What models do by themselves is found out once, not by each process. */
const abilitiesIn = (workspace: WorkspaceRecords): AbilityRecords => ({
  read: async (key) => {
    const record = await workspace.get('model_abilities', 1, key)
    return record && { ...record.value, recordedAt: record.updatedAt }
  },
  write: (key, abilities) => workspace.put('model_abilities', 1, abilities, key),
})

/** Models of a host, those that call no tools by themselves with their output repaired. */
function repairedWhereSmall(models: ModelProvider): ModelProvider {
  let repaired: ModelProvider | undefined
  return {
    list: () => models.list(),
    resolve: async (override) => {
      const model = await models.resolve(override)
      if (model.callsTools !== false) return model
      repaired ??= (await loadSmallModels()).repairModels(models)
      return repaired.resolve(override)
    },
  }
}

export async function configuredModels(
  choice: ModelOption = 'extractive',
  onError: (error: unknown) => void,
  { abilities, egress }: { readonly abilities?: AbilityRecords; readonly egress?: EgressOptions | undefined } = {},
): Promise<ModelProvider> {
  if (isProvider(choice)) return repairedWhereSmall(choice)
  const [{ modelProviders, parseModelSpecs }, { builtInModel }] = await Promise.all([
    import('@inlay/drivers/model-providers'),
    import('@inlay/extractive'),
  ])
  const choices: readonly LanguageModelChoice[] = Array.isArray(choice) ? choice : [choice]
  const config = parseModelSpecs(
    choices.map((each) => {
      if (typeof each === 'string') return { name: each }
      return isModelObject(each) ? { name: each.modelId, model: each } : each
    }),
  )
  const onNotice = (message: string): void =>
    onError(new InlayError('BAD_REQUEST', { message, data: { isExpected: true, isRefusal: true } }))
  return modelProviders({
    ...config,
    builtIn: builtInModel,
    onNotice,
    smallModels: loadSmallModels,
    currentKey: currentSecret,
    ...(abilities && { abilities }),
    ...(egress && { egress }),
  })
}

/** Loads the help for models that call no tools by themselves, which a host may leave out. */
export async function loadSmallModels(): Promise<SmallModels> {
  try {
    const { smallModels } = await import('@inlay/small-models')
    return smallModels
  } catch (error) {
    const message =
      'The language model calls no tools or does not cite by itself. Run `npm install @inlay/small-models`, which helps ' +
      'such models, or set INLAY_MODEL_GROUNDING=tools and INLAY_COMPARED_CITATIONS=off.'
    throw new InlayError('NOT_IMPLEMENTED', { message, cause: error })
  }
}
