import type { McpServer } from '@inlay/drivers/mcp-client'
import type { WebhookOptions } from '../options/event-options.ts'
import type { ImageModel, PythonOptions, WebSearchService } from '../options/tool-options.ts'
import type { Environment } from './environment.ts'
import type { SettingValues } from './setting-table.ts'

type Values = SettingValues['options']

// Each makes an option, and adds errors to `faults`.
export function webSearchOf(
  { service, ...given }: NonNullable<Values['webSearch']> = {},
  faults: string[],
): WebSearchService | undefined {
  const { baseUrl, apiKey } = given
  if (service === undefined) {
    if (baseUrl !== undefined) faults.push('INLAY_WEB_SEARCH_URL: needs INLAY_WEB_SEARCH, the service.')
    else if (apiKey !== undefined) faults.push('INLAY_WEB_SEARCH_API_KEY: needs INLAY_WEB_SEARCH, the service.')
    return undefined
  }
  if (service === 'searxng' && baseUrl === undefined)
    faults.push('INLAY_WEB_SEARCH: "searxng" needs INLAY_WEB_SEARCH_URL, the address of an instance.')
  if (service !== 'searxng' && apiKey === undefined)
    faults.push(`INLAY_WEB_SEARCH: "${service}" needs INLAY_WEB_SEARCH_API_KEY, a key of it.`)
  return { service, ...given }
}

export function imageModelOf(
  { name, ...given }: NonNullable<Values['imageGenerator']> = {},
  env: Environment,
  faults: string[],
): ImageModel | undefined {
  const { baseUrl } = given
  if (name === undefined) {
    if (baseUrl !== undefined) faults.push('INLAY_IMAGE_BASE_URL: needs INLAY_IMAGE_MODEL, the name of the model.')
    else if (given.apiKey !== undefined)
      faults.push('INLAY_IMAGE_API_KEY: needs INLAY_IMAGE_MODEL, the name of the model.')
    return undefined
  }
  // A key of OpenAI is never sent to another URL.
  const apiKey = given.apiKey ?? (baseUrl === undefined ? env['OPENAI_API_KEY']?.trim() || undefined : undefined)
  if (baseUrl === undefined && apiKey === undefined)
    faults.push(
      'INLAY_IMAGE_MODEL: needs INLAY_IMAGE_BASE_URL, or a key of OpenAI in INLAY_IMAGE_API_KEY or OPENAI_API_KEY.',
    )
  return { name: name.replace(/^openai\//, ''), ...given, ...(apiKey !== undefined && { apiKey }) }
}

export function mcpServersOf(
  { addresses = {}, tokens = {} }: Partial<NonNullable<Values['mcpServers']>> = {},
  faults: string[],
): McpServer[] | undefined {
  for (const name of Object.keys(tokens))
    if (addresses[name] === undefined) faults.push(`INLAY_MCP_TOKENS: "${name}" is not a server of INLAY_MCP_SERVERS.`)
  const servers = Object.entries(addresses).map(([name, address]): McpServer => {
    const token = tokens[name]
    const transport = address.startsWith('sse+') ? 'sse' : 'http'
    return { name, url: address.replace(/^sse\+/, ''), transport, ...(token !== undefined && { token }) }
  })
  return servers.length > 0 ? servers : undefined
}

export function webhooksOf(
  { url, secrets = [] }: Partial<WebhookOptions> = {},
  faults: string[],
): WebhookOptions[] | undefined {
  if (url !== undefined && secrets.length > 0) return [{ url, secrets }]
  if (url !== undefined) faults.push('INLAY_WEBHOOK_URL: needs INLAY_WEBHOOK_SECRET, which signs the events.')
  if (secrets.length > 0) faults.push('INLAY_WEBHOOK_SECRET: needs INLAY_WEBHOOK_URL, the address that gets events.')
  return undefined
}

export function pythonOf(given: Values['python'], faults: string[]): PythonOptions['python'] {
  if (given === undefined) return undefined
  const { isOn, ...python } = given
  if (isOn !== false) return python
  if (python.wheelsFolder !== undefined) faults.push('INLAY_PYTHON_WHEELS: has no effect while INLAY_PYTHON is off.')
  return null
}
