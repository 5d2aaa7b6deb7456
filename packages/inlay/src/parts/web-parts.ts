import type { DocumentByLink, ImageGenerator, PageReader, WebSearch } from '@inlay/agent'
import type { Egress, EgressOptions } from '@inlay/drivers/egress'
import type { Knowledge } from '@inlay/knowledge'
import { InlayError } from '@inlay/protocol'
import { basePathOf } from '../base-path.ts'
import type { ImageModel, WebOptions, WebSearchService } from '../options/tool-options.ts'

export interface WebParts {
  readonly webSearch: WebSearch | undefined
  readonly readPage: PageReader | undefined
  readonly imageGenerator: ImageGenerator | undefined
  /** Fetches a picture from where pages are read from, as a data URL. @throws BAD_REQUEST, also where no pages are read */
  readonly fetchPicture: (address: string, signal: AbortSignal) => Promise<string>
  /** Fetches URLs given by users, documents and models. */
  readonly egress: Egress
  close(): Promise<void>
}

/** The page reader is loaded on first use. @throws INVALID_INPUT for a service without the key or URL it requires */
export async function webParts(options: WebOptions): Promise<WebParts> {
  const { webSearch, pageReader, imageGenerator } = options
  const { egress } = await import('@inlay/drivers/egress')
  const fetchAddress = egress(options.egress)
  const own = typeof pageReader === 'function' ? pageReader : undefined
  const fetchPage = own || !pageReader ? fetchAddress : egress({ ...options.egress, ...pageReader })
  const reader = defaultPageReader(fetchPage)
  return {
    egress: fetchAddress,
    fetchPicture: async (address, signal) => {
      if (pageReader === null) throw unfetched('Nothing is fetched here: send the data of the picture.')
      const limits = { signal, maxBytes: 10 * 2 ** 20, timeoutMs: 10_000, mediaTypes: ['image/'] }
      const { status, headers, bytes } = await fetchPage(address, limits)
      if (status !== 200) throw unfetched(`Its server answered with status ${status}.`)
      // Without parameters, which a foreign server can fill with anything.
      const [type] = /^[\w.+/-]+/.exec(headers.get('content-type') ?? '') ?? []
      return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
    },
    webSearch: typeof webSearch === 'object' ? await webSearchOf(webSearch) : webSearch,
    readPage: pageReader === null ? undefined : (own ?? reader.read),
    imageGenerator:
      typeof imageGenerator === 'object' ? await imagesOf(imageGenerator, options.egress ?? {}) : imageGenerator,
    close: reader.close,
  }
}

const unfetched = (message: string): InlayError => new InlayError('BAD_REQUEST', { message, retryable: false })

export function toDocumentByLink({ byLink }: Pick<Knowledge, 'byLink'>): DocumentByLink {
  return async (query) => {
    const passage = await byLink(query)
    return passage && { document: passage.document, text: passage.content }
  }
}

export function toFileUrl(basePath?: string): (fileId: string) => string {
  const base = basePathOf({ basePath })
  return (fileId) => `${base}/chat/file/${fileId}`
}

function defaultPageReader(egress: Egress): { readonly read: PageReader; close(): Promise<void> } {
  const load = async () => {
    const [{ pageReader }, { fileExtractor }] = await Promise.all([
      import('@inlay/drivers/page-reader'),
      import('@inlay/drivers/file-extraction'),
    ])
    // A separate extractor: a large upload must not delay a page that somebody waits for.
    const extract = fileExtractor({ threads: 2, timeoutMs: 30_000, maxMemoryBytes: 512 * 2 ** 20 })
    return { read: pageReader({ egress, extract }), close: () => extract.close() }
  }
  let loading: ReturnType<typeof load> | undefined
  return {
    read: async (url, options) => (await (loading ??= load())).read(url, options),
    close: async () => (await loading)?.close(),
  }
}

async function webSearchOf({ service, apiKey, baseUrl }: WebSearchService): Promise<WebSearch> {
  if (service === 'searxng') {
    if (baseUrl === undefined) throw lacking('searxng', 'the address of an instance')
    const { searxngSearch } = await import('@inlay/drivers/web-search/searxng')
    return searxngSearch({ baseUrl, apiKey })
  }
  if (apiKey === undefined) throw lacking(service, 'an API key')
  const access = { apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) }
  switch (service) {
    case 'brave':
      return (await import('@inlay/drivers/web-search/brave')).braveSearch(access)
    case 'tavily':
      return (await import('@inlay/drivers/web-search/tavily')).tavilySearch(access)
    case 'exa':
      return (await import('@inlay/drivers/web-search/exa')).exaSearch(access)
    case 'serper':
      return (await import('@inlay/drivers/web-search/serper')).serperSearch(access)
  }
}

function lacking(service: string, what: string): InlayError {
  return new InlayError('INVALID_INPUT', { message: `The web search "${service}" requires ${what}.` })
}

async function imagesOf({ name, baseUrl, apiKey }: ImageModel, egressOptions: EgressOptions): Promise<ImageGenerator> {
  const [{ openaiImages }, { egress }] = await Promise.all([
    import('@inlay/drivers/openai-images'),
    import('@inlay/drivers/egress'),
  ])
  // A self-hosted service returns images at its own URL.
  const own = baseUrl !== undefined && URL.canParse(baseUrl) ? [hostOf(new URL(baseUrl))] : []
  const allowHosts = [...(egressOptions.allowHosts ?? []), ...own]
  return openaiImages({
    model: name,
    egress: egress({ ...egressOptions, allowHosts }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
  })
}

function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname.replace(/^\[|\]$/g, '')}:${port || (protocol === 'https:' ? '443' : '80')}`
}
