import type { ModelSpec } from '@inlay/drivers/model-providers'
import type { ModelEntry } from '../options/model-entries.ts'
import {
  isOfficial,
  keyVariables,
  needsKey,
  officialForms,
  providerIn,
  type OfficialPrefix,
} from '@inlay/drivers/official-providers'
import {
  isLocalName,
  modelRows,
  openaiBaseUrl,
  type EmbeddingModel,
  type LanguageModelChoice,
} from '../options/model-options.ts'
import type { Environment } from './environment.ts'
import { wrongSetting, type SettingValues } from './setting-table.ts'

/** The option `model`. Adds errors to `faults`. */
export function modelOf(
  { list, name, ...given }: NonNullable<SettingValues['options']['model']> = {},
  env: Environment,
  faults: string[],
): LanguageModelChoice | readonly LanguageModelChoice[] | undefined {
  if (list !== undefined) {
    if (name !== undefined) faults.push('INLAY_MODELS: replaces INLAY_MODEL; set only one of them.')
    return list.map((entry) => modelOfEntry(entry, env, faults))
  }
  const { baseUrl } = given
  if (name === undefined) {
    if (baseUrl !== undefined) faults.push('INLAY_MODEL_BASE_URL: needs INLAY_MODEL, the name of the model there.')
    return undefined
  }
  if (name === 'extractive') return name
  const provider = providerOf({ name, ...given })
  if (provider === undefined && baseUrl === undefined) {
    faults.push(wrongSetting(modelRows.name.setting!, name))
    return undefined
  }
  // A provider's key is never sent to another URL.
  const usual = provider !== undefined && baseUrl === undefined ? provider : undefined
  const apiKey = given.apiKey ?? (usual && valueOf(env, keyVariables[usual]))
  if (usual && needsKey(usual) && apiKey === undefined)
    faults.push(`INLAY_MODEL: "${name}" needs a key; set INLAY_MODEL_API_KEY or ${keyVariables[usual]}.`)
  return { name, ...given, ...(apiKey !== undefined && { apiKey }) }
}

function modelOfEntry({ spec, keyVariable }: ModelEntry, env: Environment, faults: string[]): ModelSpec {
  const { apiKey: _, ...plain } = spec
  const apiKey = keyOf(spec, keyVariable, env, faults)
  return apiKey === undefined ? plain : { ...plain, apiKey }
}

function keyOf(
  { name, baseUrl, apiKey, api }: ModelSpec,
  variable: string | undefined,
  env: Environment,
  faults: string[],
): string | undefined {
  if (variable !== undefined) {
    const value = valueOf(env, variable)
    if (!value) faults.push(`INLAY_MODELS: "${name}" names the variable ${variable} for its key, which is not set.`)
    return value
  }
  if (apiKey !== undefined || name === 'extractive' || baseUrl !== undefined) return apiKey
  const provider = providerOf({ name, api })
  if (provider === undefined) {
    faults.push(`INLAY_MODELS: "${name}" needs a base_url, or a provider in front: ${officialForms}.`)
    return undefined
  }
  const usual = keyVariables[provider]
  const value = valueOf(env, usual)
  if (!value && needsKey(provider))
    faults.push(`INLAY_MODELS: "${name}" needs a key; give it api_key or api_key_env, or set ${usual}.`)
  return value
}

const providerOf = ({ name, api }: { name: string; api?: ModelSpec['api'] }): OfficialPrefix | undefined =>
  api === undefined ? providerIn(name) : isOfficial(api) ? api : undefined

const valueOf = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined

/** The option `embedder`, as settings. Adds errors to `faults`. */
export function embeddingOf(
  { name, ...given }: Partial<EmbeddingModel> = {},
  env: Environment,
  faults: string[],
): EmbeddingModel | undefined {
  if (name === undefined) {
    const variables = ['INLAY_EMBEDDING_BASE_URL', 'INLAY_EMBEDDING_API_KEY', 'INLAY_EMBEDDING_DIMENSIONS']
    const dependent = variables.find((variable) => valueOf(env, variable))
    if (dependent !== undefined) faults.push(`${dependent}: needs INLAY_EMBEDDING_MODEL, the name of the model.`)
    return undefined
  }
  if (isLocalName(name)) return { ...given, name }
  const baseUrl = given.baseUrl ?? openaiBaseUrl
  const apiKey = given.apiKey ?? (baseUrl === openaiBaseUrl ? valueOf(env, 'OPENAI_API_KEY') : undefined)
  if (given.baseUrl === undefined && apiKey === undefined) {
    faults.push(
      'INLAY_EMBEDDING_MODEL: needs INLAY_EMBEDDING_BASE_URL, or a key of OpenAI in INLAY_EMBEDDING_API_KEY or OPENAI_API_KEY.',
    )
  }
  return { ...given, name, baseUrl, ...(apiKey !== undefined && { apiKey }) }
}
