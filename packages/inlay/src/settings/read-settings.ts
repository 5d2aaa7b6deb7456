import { InlayError } from '@inlay/protocol'
import type { InlayOptions } from '../options/inlay-options.ts'
import { enginesOf } from './engine-settings.ts'
import type { PageBrand } from '../page-brand.ts'
import { readEnvironment, type Environment } from './environment.ts'
import { embeddingOf, modelOf } from './model-settings.ts'
import { withSecretFiles } from './secret-files.ts'
import { readTable, secretNames, unknownSettings } from './setting-table.ts'
import { imageModelOf, mcpServersOf, pythonOf, webhooksOf, webSearchOf } from './tool-settings.ts'

/** Settings from the environment: where to listen, and options for `createInlay`. */
export interface Settings {
  /** Host name or address to listen on. Default `127.0.0.1`. */
  readonly host: string
  /** Port; 0 selects any free port. Default 3000. */
  readonly port: number
  /** Shutdown times of `inlay serve`; see `closeServer`. */
  readonly shutdown: { readonly noticeMs?: number; readonly drainMs?: number }
  /** Look of the web page. */
  readonly brand: PageBrand | undefined
  /** Whether to look for local models when starting without a configured model. Default true. */
  readonly findsLocalModels: boolean
  readonly options: InlayOptions
  /** Warnings about variables without effect, such as misspelt names. */
  readonly warnings: readonly string[]
}

/**
 * Reads settings from environment variables; blank ones count as absent. Secrets may be in files: `<NAME>_FILE`.
 * @throws INVALID_INPUT that lists every invalid variable, its value and the allowed values; secrets are not repeated
 * @example const { host, port, options } = readSettings(process.env)
 */
export function readSettings(variables: Environment): Settings {
  const faults: string[] = []
  const env = withSecretFiles(variables, secretNames, faults)
  const {
    serve: { host = '127.0.0.1', port = 3000, brand, ...shutdown },
    options: { localModels: findsLocalModels = true, ...values },
  } = readTable(env, faults)
  const options = withoutAbsent<InlayOptions>({
    ...values,
    model: modelOf(values.model, env, faults),
    embedder: embeddingOf(values.embedder, env, faults),
    ...enginesOf(values, env, faults),
    webSearch: webSearchOf(values.webSearch, faults),
    imageGenerator: imageModelOf(values.imageGenerator, env, faults),
    mcpServers: mcpServersOf(values.mcpServers, faults),
    webhooks: webhooksOf(values.webhooks, faults),
    python: pythonOf(values.python, faults),
  })
  if (faults.length > 0) throw new InlayError('INVALID_INPUT', { message: faults.join('\n') })
  return { host, port, brand, shutdown, findsLocalModels, options, warnings: unknownSettings(env) }
}

/**
 * Reads options for `createInlay` from environment variables, completed from a file `.env` in the folder.
 * @param folder default: the working directory
 * @throws INVALID_INPUT that lists every invalid variable, as `readSettings` does
 * @example const inlay = createInlay({ ...optionsFromEnvironment(), basePath: '/assistant' })
 */
export function optionsFromEnvironment(folder?: string, env?: Environment): InlayOptions {
  return readSettings(readEnvironment(folder, env)).options
}

/** Removes undefined members, since spread options must not hide a default. */
function withoutAbsent<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Values
}
