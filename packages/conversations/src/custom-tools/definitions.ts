import { InlayError, isJsonObject, type JsonObject } from '@inlay/protocol'
import type { FetchAddress, StoredToolFields, StoredToolFunction } from './contracts.ts'
import { parseOpenApi } from './openapi-document.ts'
import { unusable } from './openapi-references.ts'
import { isSendableHeader } from './request-headers.ts'

const maxBytes = 4 * 2 ** 20

/**
 * Returns the given document, or fetches it from the given URL, and checks it.
 * @throws VALIDATION_ERROR, and what the fetching rejects with
 */
export async function loadDefinition(
  given: StoredToolFields['definition'],
  fetchAddress: FetchAddress,
): Promise<JsonObject> {
  const document = typeof given === 'string' ? await fetchDocument(given, fetchAddress) : given
  parseOpenApi(document)
  return document
}

async function fetchDocument(url: string, fetchAddress: FetchAddress): Promise<JsonObject> {
  const { status, bytes } = await fetchAddress(url, { headers: { accept: 'application/json' }, maxBytes })
  if (status !== 200) {
    throw new InlayError('BAD_GATEWAY', { message: `The address of the document answered with status ${status}.` })
  }
  try {
    const document = JSON.parse(new TextDecoder().decode(bytes)) as unknown
    if (isJsonObject(document)) return withWholeServer(document, url)
  } catch {
    // Reported below, like any other response that is not a document.
  }
  throw unusable('its address does not give a JSON object.')
}

/** Resolves a server URL that is relative to the document's URL, which is not kept. */
function withWholeServer(document: JsonObject, address: string): JsonObject {
  const { servers } = document
  if (!Array.isArray(servers)) return document
  const whole = servers.map((server: unknown) => {
    const url = isJsonObject(server) ? server['url'] : undefined
    if (!isJsonObject(server) || typeof url !== 'string' || /^[a-z][a-z\d+.-]*:|[{}]/i.test(url)) return server
    return URL.canParse(url, address) ? { ...server, url: new URL(url, address).href } : server
  })
  return { ...document, servers: whole }
}

/** The functions of a checked document, for review. */
export function functionsOf(document: JsonObject): StoredToolFunction[] {
  return parseOpenApi(document).operations.map(({ name, summary, description, method, path, source }) => ({
    name,
    summary: summary || description,
    method,
    path,
    operation: source,
  }))
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
