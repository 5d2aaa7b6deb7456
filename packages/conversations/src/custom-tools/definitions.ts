import { InlayError } from '@inlay/protocol'
import type { CustomToolSource, FetchAddress, StoredToolFields } from './contracts.ts'
import { isSendableHeader } from './request-headers.ts'

const maxBytes = 30 * 2 ** 20

/** @throws BAD_GATEWAY, and what the fetching rejects with */
export async function loadSource(
  { definition, operations, serverUrl }: Pick<StoredToolFields, 'definition' | 'operations' | 'serverUrl'>,
  fetchAddress: FetchAddress,
): Promise<CustomToolSource> {
  const isAddress = typeof definition === 'string' && /^https?:\/\/\S+$/i.test(definition)
  if (!isAddress) return { document: definition, operations, serverUrl }
  const headers = { accept: 'application/json, application/yaml, text/yaml, */*;q=0.5' }
  const { status, bytes } = await fetchAddress(definition, { headers, maxBytes })
  if (status !== 200) {
    throw new InlayError('BAD_GATEWAY', { message: `The address of the document answered with status ${status}.` })
  }
  return { document: new TextDecoder().decode(bytes), address: definition, operations, serverUrl }
}

/** Refuses headers that are invalid or contradictory. @throws VALIDATION_ERROR without their values */
export function checkFields(fields: Pick<StoredToolFields, 'name' | 'customHeaders' | 'passesAuth'>): void {
  const { name, customHeaders, passesAuth } = fields
  if (name.trim() === '') throw refused('A tool needs a name.')
  const names = customHeaders.map(({ key }) => key.toLowerCase())
  if (new Set(names).size < names.length) throw refused('custom_headers names a header twice.')
  if (!customHeaders.every(({ key, value }) => isSendableHeader(key, value))) {
    throw refused('custom_headers holds a header that cannot be sent: names are tokens, values one line of text.')
  }
  if (passesAuth && names.includes('authorization')) {
    throw refused('passthrough_auth sends the Authorization of the caller: leave that header out of custom_headers.')
  }
}

function refused(message: string): InlayError {
  return new InlayError('VALIDATION_ERROR', { message })
}
