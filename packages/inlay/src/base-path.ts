import type { InlayOptions } from './options/inlay-options.ts'

/** Base path of the API: "" or with a slash at the start and none at the end. */
export function basePathOf({ basePath = '/api' }: Pick<InlayOptions, 'basePath'>): string {
  // Not that of the server, which would be loaded before the first line of a command.
  return `/${basePath}`.replace(/\/+/g, '/').replace(/\/$/, '')
}
