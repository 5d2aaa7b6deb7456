import type { Environment } from './readers.ts'
import type { SettingTable } from './setting-table.ts'
import { settingTable } from './setting-table.ts'
import type { ImageModel, WebOptions, WebSearchService } from '../options/part-options.ts'

type WebValues = { readonly [Name in keyof SettingTable]?: ReturnType<SettingTable[Name]['read']> }

/** Options for web access; adds errors to `faults`. */
export function webOptionsOf(values: WebValues, env: Environment, faults: string[]): WebOptions {
  const { egressAllow, pageHosts } = values
  const webSearch = webSearchOf(values, faults)
  const imageGenerator = imageModelOf(values, env, faults)
  return {
    ...(webSearch === undefined ? {} : { webSearch }),
    ...(imageGenerator === undefined ? {} : { imageGenerator }),
    ...(pageHosts === undefined ? {} : { pageHosts }),
    ...(egressAllow === undefined ? {} : { egress: { allowHosts: egressAllow } }),
  }
}

function webSearchOf(values: WebValues, faults: string[]): WebSearchService | undefined {
  const { webSearch: service, webSearchUrl: baseUrl, webSearchApiKey: apiKey } = values
  const { webSearch, webSearchUrl, webSearchApiKey } = settingTable
  if (service === undefined) {
    const beside = baseUrl !== undefined ? webSearchUrl : apiKey !== undefined ? webSearchApiKey : undefined
    if (beside) faults.push(`${beside.name}: needs ${webSearch.name}, the service.`)
    return undefined
  }
  if (service === 'searxng' && baseUrl === undefined)
    faults.push(`${webSearch.name}: "searxng" needs ${webSearchUrl.name}, the address of an instance.`)
  if (service !== 'searxng' && apiKey === undefined)
    faults.push(`${webSearch.name}: "${service}" needs ${webSearchApiKey.name}, a key of it.`)
  return { service, ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) }
}

function imageModelOf(values: WebValues, env: Environment, faults: string[]): ImageModel | undefined {
  const { imageModel: given, imageBaseUrl: baseUrl, imageApiKey } = values
  const settings = settingTable
  if (given === undefined) {
    const beside =
      baseUrl !== undefined ? settings.imageBaseUrl : imageApiKey !== undefined ? settings.imageApiKey : undefined
    if (beside) faults.push(`${beside.name}: needs ${settings.imageModel.name}, the name of the model.`)
    return undefined
  }
  const name = given.replace(/^openai\//, '')
  // Never sends a key of OpenAI to another address.
  const apiKey = imageApiKey ?? (baseUrl === undefined ? env['OPENAI_API_KEY']?.trim() || undefined : undefined)
  if (baseUrl === undefined && apiKey === undefined) {
    const { imageModel, imageBaseUrl, imageApiKey: key } = settings
    faults.push(`${imageModel.name}: needs ${imageBaseUrl.name}, or a key of OpenAI in ${key.name} or OPENAI_API_KEY.`)
  }
  return { name, ...(baseUrl === undefined ? {} : { baseUrl }), ...(apiKey === undefined ? {} : { apiKey }) }
}
