import type { ModelSpec } from '@inlay/drivers/model-providers'
import { asDefault, integer, seconds, textLike } from '../options/kinds.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { optionRows } from '../options/option-rows.ts'
import type { WebhookOptions } from '../options/event-options.ts'
import type { ModelEntry } from '../options/model-entries.ts'
import type { DatabaseOptions, IndexOptions } from '../options/engines.ts'
import type { EmbeddingModel } from '../options/model-options.ts'
import { setting, type Row, type Setting } from '../options/rows.ts'
import type { ImageModel, WebSearchService } from '../options/tool-options.ts'
import { readBrand, type PageBrand } from '../page-brand.ts'
import type { Environment } from './environment.ts'
import { fileSuffix } from './secret-files.ts'

/** Settings of `inlay serve` that are not options of `createInlay`. */
interface ServeSettings {
  readonly port: number
  readonly host: string
  readonly noticeMs: number
  readonly drainMs: number
  readonly brand: PageBrand
}

const serveSettings: { readonly [Name in keyof ServeSettings]: Setting<ServeSettings[Name]> } = {
  port: setting({ ...integer(0, 65_535), allowed: 'a whole number from 0 (any free port) to 65535' }, 'PORT', {
    isBasic: true,
  }),
  host: setting(
    textLike('a host name or address, such as 127.0.0.1, 0.0.0.0 or ::', (given) => /^[\w.:[\]-]+$/.test(given)),
    'HOST',
    { isBasic: true },
  ),
  noticeMs: setting(seconds(0, 600), 'INLAY_SHUTDOWN_NOTICE'),
  drainMs: setting(seconds(0, 3600), 'INLAY_SHUTDOWN_DRAIN'),
  brand: setting(
    {
      allowed: 'declarations of --inlay-accent, -background, -text, -radius and -font, such as --inlay-accent: #7a1fa2',
      read: readBrand,
    },
    'INLAY_BRAND',
  ),
}

const serveRows = Object.entries<Setting<unknown>>({ ...serveSettings })

type Table = Readonly<Record<string, Row<unknown>>>
const optionTable: Table = { ...optionRows }

function settingsIn(rows: Table): Setting<unknown>[] {
  return Object.values(rows).flatMap(({ setting: own, fields = {} }) => [...(own ? [own] : []), ...settingsIn(fields)])
}

/** All settings, in the order of the settings page. */
const settings: readonly Setting<unknown>[] = [...serveRows.map(([, each]) => each), ...settingsIn(optionTable)]

/** Variables that may name a file instead. */
export const secretNames: readonly string[] = settings.filter(({ isSecret }) => isSecret).map(({ name }) => name)

/** Values of options whose fields have settings; required fields may be missing. */
interface FieldValues {
  readonly model?: Partial<ModelSpec> & { readonly list?: readonly ModelEntry[] }
  readonly embedder?: Partial<EmbeddingModel>
  readonly database?: Partial<DatabaseOptions>
  readonly index?: Partial<IndexOptions>
  readonly webSearch?: Partial<WebSearchService>
  readonly imageGenerator?: Partial<ImageModel>
  readonly mcpServers?: Readonly<Record<'addresses' | 'tokens', Readonly<Record<string, string>> | undefined>>
  readonly webhooks?: Partial<WebhookOptions>
  readonly python?: { readonly isOn?: boolean; readonly wheelsFolder?: string }
}

/** Values of the settings that are set. */
export interface SettingValues {
  readonly serve: Partial<ServeSettings>
  /** By option. */
  readonly options: FieldValues & Omit<InlayOptions, keyof FieldValues>
}

/** Reads each setting; adds a line to `faults` for each invalid one. Blank variables count as absent. */
export function readTable(env: Environment, faults: string[]): SettingValues {
  const readOne = (own: Setting<unknown>): unknown => {
    const text = env[own.name]?.trim()
    if (text === undefined || text === '') return undefined
    const value = own.read(text)
    if (value === undefined) faults.push(wrongSetting(own, text))
    return value === asDefault ? undefined : value
  }
  const readRow = ({ setting: own, fields }: Row<unknown>): unknown => {
    const inner = Object.entries(fields ?? {}).map(([name, row]) => [name, readRow(row)] as const)
    const values = inner.filter(([, value]) => value !== undefined)
    return values.length > 0 ? Object.fromEntries(values) : own && readOne(own)
  }
  const serve = serveRows.map(([name, own]) => [name, readOne(own)])
  const options = Object.entries(optionTable).map(([name, row]) => [name, readRow(row)])
  const given = (values: unknown[][]): object => Object.fromEntries(values.filter(([, value]) => value !== undefined))
  // Each value was read by the setting with the same key.
  return { serve: given(serve), options: given(options) } as SettingValues
}

/** Error message for an invalid value. Secrets are not repeated. */
export function wrongSetting(wrong: Setting<unknown>, given: string): string {
  const shown = wrong.isSecret === true ? 'the value given' : `"${given.slice(0, 100)}"`
  return `${wrong.name}: ${shown} is not allowed; use ${wrong.allowed}.`
}

/** Warnings about unknown variables, such as misspelt names, which have no effect. */
export function unknownSettings(env: Environment): string[] {
  const known = new Set([...settings.map(({ name }) => name), ...secretNames.map((name) => name + fileSuffix)])
  return Object.keys(env)
    .filter((name) => name.startsWith('INLAY_') && !known.has(name))
    .sort()
    .map((name) => `${name} is not a setting of Inlay and has no effect.`)
}

/** Description of a setting for users. */
export interface SettingDescription extends Pick<Setting<unknown>, 'name' | 'meaning' | 'allowed' | 'without'> {
  readonly isAdvanced: boolean
}

/** Descriptions of all settings, in order. */
export function describeSettings(): SettingDescription[] {
  return settings.map(({ name, meaning, allowed, without, isBasic }) => {
    return { name, meaning, allowed, without, isAdvanced: isBasic !== true }
  })
}
