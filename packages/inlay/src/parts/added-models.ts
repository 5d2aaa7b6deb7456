import type { ModelListing, ModelProvider } from '@inlay/agent'
import { isOfficial, needsKey, officialForms, type OfficialPrefix } from '@inlay/drivers/official-providers'
import type { ModelSpec } from '@inlay/drivers/model-providers'
import { InlayError, type LlmOverride } from '@inlay/protocol'
import type { ModelProviderChange } from '@inlay/protocol/administration'
import type { ModelAdministration, WorkspaceRecord, WorkspaceRecords, WorkspaceValues } from '@inlay/server'
import { hasUser, isHttp } from '../options/kinds.ts'
import type { LanguageModelChoice } from '../options/model-options.ts'
import { unreadable, type Secrets } from './secrets.ts'

type Stored = WorkspaceRecord<'model_provider'>
type StoredValue = WorkspaceValues['model_provider']

export interface AddedModelsOptions {
  readonly configured: ModelProvider
  readonly workspace: WorkspaceRecords
  readonly secrets: Secrets
  /** Makes models whose requests obey the rules for addresses that somebody typed. */
  readonly make: (choices: readonly LanguageModelChoice[]) => Promise<ModelProvider>
  /** Called with what is wrong with a stored provider that is left out. */
  readonly onError: (error: unknown) => void
}

/** A key opens only for the address that it was entered for. */
const useOf = ({ type, baseUrl }: Pick<StoredValue, 'type' | 'baseUrl'>): string => `model ${type} ${baseUrl ?? ''}`
const invalid = (message: string): InlayError => new InlayError('VALIDATION_ERROR', { message })

/** The configured models and those that administrators add; processes with the same database share them. */
export function addedModelParts({ configured, workspace, secrets, make, onError }: AddedModelsOptions): {
  readonly models: ModelProvider
  readonly addedModels: ModelAdministration
} {
  const stored = (): Promise<readonly Stored[]> => workspace.list('model_provider')
  /** One that is configured later takes the place of an added one of its name. */
  const active = async (): Promise<readonly Stored[]> => {
    const records = await stored()
    const own = records.length === 0 ? [] : await configured.list()
    return records.filter(({ value }) => !own.some(({ provider }) => provider === value.name))
  }
  const providers = new Map<number, { readonly of: string; readonly models: Promise<ModelProvider> }>()
  const keyOf = ({ value }: Stored): string | undefined =>
    value.apiKey === null ? undefined : secrets.open(value.apiKey, useOf(value))
  const modelsOf = (record: Stored): Promise<ModelProvider> => {
    const known = providers.get(record.id)
    const of = JSON.stringify({ ...record.value, defaultModel: null })
    if (known?.of === of) return known.models
    checkKey(record.value)
    const { name: provider, type, baseUrl, models: names } = record.value
    const api: ModelSpec['api'] = isOfficial(type) ? type : 'openai-compatible'
    // One that cannot be read is told when the model is called.
    const apiKey = record.value.apiKey === null ? undefined : (keyOf(record) ?? 'unreadable')
    const access = { provider, api, ...(apiKey !== undefined && { apiKey }), ...(baseUrl !== null && { baseUrl }) }
    const choices = names.map(({ name, contextTokens, takesImages }) => ({
      ...access,
      // What stands in front is taken off again, so that a name such as `openai/gpt-oss-120b` stays whole.
      name: `${api}/${name}`,
      displayName: name,
      ...(contextTokens !== null && { contextTokens }),
      ...(takesImages !== null && { takesImages }),
    }))
    const models = make(choices)
    providers.set(record.id, { of, models })
    return models
  }
  const listingsOf = async (record: Stored, isDefault: boolean): Promise<ModelListing[]> =>
    (await (await modelsOf(record)).list())
      .filter(({ provider }) => provider === record.value.name)
      .map((listing) => ({
        ...listing,
        providerId: record.id,
        isDefault: isDefault && listing.name === record.value.defaultModel,
      }))
  const list = async (): Promise<readonly ModelListing[]> => {
    const [records, own] = await Promise.all([active(), configured.list()])
    const usual = records.find(({ value }) => value.defaultModel !== null)
    const added = await Promise.all(
      records.map((record) =>
        listingsOf(record, record === usual).catch((error: unknown) => {
          onError(error)
          return []
        }),
      ),
    )
    return [...own.map((each) => ({ ...each, isDefault: each.isDefault && !usual })), ...added.flat()]
  }
  /** The added provider that an override selects, and what it selects there. */
  const choose = async (
    records: readonly Stored[],
    override: LlmOverride,
  ): Promise<readonly [Stored, LlmOverride] | undefined> => {
    const { model_configuration_id: id, ...rest } = override
    if (typeof id === 'number') {
      const { provider, name } = (await list())[id - 1] ?? {}
      const record = records.find(({ value }) => value.name === provider)
      return record && name !== undefined
        ? [record, { ...rest, model_provider: provider, model_version: name }]
        : undefined
    }
    const wanted = override.model_provider
    const record = records.find(({ value }) => (wanted ? value.name === wanted : value.defaultModel !== null))
    const version = override.model_version ?? (wanted ? record?.value.models[0]?.name : record?.value.defaultModel)
    return record && [record, { ...rest, model_provider: record.value.name, model_version: version }]
  }
  const find = async (id: number): Promise<Stored> => {
    const record = await workspace.get('model_provider', id)
    if (record) return record
    throw new InlayError('NOT_FOUND', { message: 'No provider with this id was added here.' })
  }
  return {
    models: {
      list,
      resolve: async (override) => {
        const records = await active()
        const chosen = records.length === 0 ? undefined : await choose(records, override ?? {})
        if (!chosen) return configured.resolve(override)
        const [record, theirs] = chosen
        if (record.value.apiKey !== null && keyOf(record) === undefined)
          throw unreadable(`the model provider ${record.value.name}`)
        return (await modelsOf(record)).resolve(theirs)
      },
    },
    addedModels: {
      list: async () =>
        (await stored()).map(({ id, value: { name, baseUrl, apiKey } }) => ({
          id,
          name,
          baseUrl,
          hasKey: apiKey !== null,
        })),
      async save(change, isNew) {
        const name = change.name ?? change.provider
        const records = await stored()
        const known = records.find(({ id, value }) => (change.id === null ? value.name === name : id === change.id))
        const isTaken =
          records.some((record) => record !== known && record.value.name === name) ||
          (await configured.list()).some(({ provider }) => provider === name)
        if (isTaken || (isNew && known))
          throw new InlayError('DUPLICATE_RESOURCE', {
            message: `A model provider is named ${name}: choose another name.`,
          })
        if (!isNew && !known) throw new InlayError('NOT_FOUND', { message: 'No such model provider was added here.' })
        const value = withKey(toValue(change, name, known), change, known, secrets)
        if (!known) return (await workspace.add('model_provider', value)).id
        await workspace.put('model_provider', known.id, value)
        return known.id
      },
      async remove(id, isForced) {
        const { value } = await find(id)
        if (value.defaultModel !== null && !isForced)
          throw invalid('This provider has the default model: choose another default first.')
        await workspace.remove('model_provider', id)
        providers.delete(id)
      },
      async chooseDefault({ provider_id: id, model_name: name }) {
        const records = await stored()
        const record = records.find((each) => each.id === id)
        const isConfigured = (await configured.list()).some((each) => each.isDefault && each.name === name)
        if (record ? !record.value.models.some((each) => each.name === name) : !isConfigured)
          throw invalid('The default has to be a model that was added here, or the one that is configured.')
        for (const { id: each, value } of records) {
          const defaultModel = each === id ? name : null
          if (value.defaultModel !== defaultModel)
            await workspace.put('model_provider', each, { ...value, defaultModel })
        }
      },
    },
  }
}

function toValue(change: ModelProviderChange, name: string, known: Stored | undefined): Omit<StoredValue, 'apiKey'> {
  const { provider, api_base: base, api_version: version, custom_config: config } = change
  if (config !== null && Object.keys(config).length > 0)
    throw invalid('"custom_config" is not supported: give the provider a key.')
  const address = base?.trim().replace(/(?<!\/)\/+$/, '') || null
  if (address !== null && (!isHttp(address) || hasUser(address)))
    throw invalid('"api_base" has to be an http or https address without a user name or password.')
  const type = typeOf(provider, address)
  const models = change.model_configurations
    .filter((each) => each.is_visible)
    .map((each) => ({ name: each.name, contextTokens: each.max_input_tokens, takesImages: each.supports_image_input }))
  if (models.length === 0) throw invalid('"model_configurations" has to name at least one visible model.')
  const query =
    version?.trim() && `${address?.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version.trim())}`
  if (query && address === null) throw invalid('"api_version" needs an "api_base".')
  const kept = known?.value.defaultModel ?? null
  const defaultModel = models.some((each) => each.name === kept) ? kept : null
  return { name, type, baseUrl: address === null ? null : `${address}${query || ''}`, models, defaultModel }
}

function typeOf(provider: string, address: string | null): OfficialPrefix | 'openai-compatible' {
  const name = provider === 'bedrock' ? 'amazon-bedrock' : provider.replaceAll('_', '-')
  if (isOfficial(name)) return name
  if (address !== null) return 'openai-compatible'
  throw invalid(
    `The provider "${provider}" needs an "api_base"; without one there are ${officialForms.replaceAll('/<model>', '')}.`,
  )
}

function withKey(
  value: Omit<StoredValue, 'apiKey'>,
  { api_key: given, api_key_changed: isChanged }: ModelProviderChange,
  known: Stored | undefined,
  secrets: Secrets,
): StoredValue {
  const key = given?.trim() || null
  const isKept = known !== undefined && !isChanged
  const kept = isKept ? known.value.apiKey : null
  // What was entered for one address is not sent to another.
  if (known && kept !== null && useOf(known.value) !== useOf(value))
    throw invalid('The address has changed: enter the key again, and set "api_key_changed".')
  checkKey({ ...value, apiKey: isKept ? kept : key })
  return { ...value, apiKey: isKept || key === null ? kept : secrets.seal(key, useOf(value)) }
}

/** Credentials of the host itself are for the models that it configures. */
function checkKey({ name, type, baseUrl, apiKey }: Pick<StoredValue, 'name' | 'type' | 'baseUrl' | 'apiKey'>): void {
  if (apiKey === null && isOfficial(type) && (baseUrl === null || !needsKey(type)))
    throw invalid(`The provider "${name}" needs an "api_key".`)
}
