import { InlayError } from '@inlay/protocol'
import type { InlayOptions } from './inlay.ts'

/** What the environment says: where to listen, and the options of `createInlay`. */
export interface Settings {
  /** Name or address to listen on. Default `127.0.0.1`. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly options: InlayOptions
}

/** Reads settings from environment variables; a wrong value throws INVALID_INPUT naming variable, value and what is allowed. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  void env
  throw new InlayError('NOT_IMPLEMENTED')
}
