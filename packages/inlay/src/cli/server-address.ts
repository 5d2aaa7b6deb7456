import { cleanBasePath } from '@inlay/server'
import type { InlayOptions } from '../options/inlay-options.ts'

/** Base path of the API of `inlay serve`: "" or with a slash at the start and none at the end. */
export function basePathOf({ basePath = '/api' }: Pick<InlayOptions, 'basePath'>): string {
  return cleanBasePath(basePath)
}

/** A host as part of a URL. Wildcard addresses cannot be opened in a browser. */
export function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
