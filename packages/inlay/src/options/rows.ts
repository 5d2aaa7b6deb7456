import type * as v from 'valibot'
import { only, type Kind } from './kinds.ts'
import { settingWords, type SettingName } from './setting-words.ts'

export interface SettingFlags {
  /** Never shown, not even in errors. */
  readonly isSecret?: boolean
  /** Useful to get started: listed in the README too, not on the settings page alone. */
  readonly isBasic?: boolean
}

export interface Setting<Value> extends SettingFlags, Pick<Kind<Value>, 'allowed' | 'read'> {
  readonly name: SettingName
  /** Purpose of the setting, as a clause. */
  readonly meaning: string
  /** Behaviour when it is not set. */
  readonly without: string
}

/** One option: its check, and its environment variable if it has one. */
export interface Row<Value> {
  readonly check: v.GenericSchema
  readonly setting?: Setting<Value>
  /** Rows of the fields of an object that has settings. */
  readonly fields?: Readonly<Record<string, Row<unknown>>>
}

/** One option of a language model: also a field of `INLAY_MODELS`. */
export interface ModelRow<Value> extends Row<Value> {
  readonly field: string
  readonly fromJson: (value: unknown) => Value | undefined
}

export type Rows<Options> = { readonly [Name in keyof Options]-?: Row<NonNullable<Options[Name]>> }

export function setting<Value>(
  { allowed, read }: Pick<Kind<Value>, 'allowed' | 'read'>,
  name: SettingName,
  flags: SettingFlags = {},
): Setting<Value> {
  const [meaning = '', without = ''] = settingWords[name].split(' | ')
  return { name, meaning, without, ...flags, allowed, read }
}

export function option<Value>(
  kind: Kind<Value>,
  name?: SettingName,
  flags?: SettingFlags,
): Pick<Row<Value>, 'check'> & { readonly setting?: Setting<Value> } {
  return name === undefined ? { check: kind.check } : { check: kind.check, setting: setting(kind, name, flags) }
}

/** An option that is an object with only these fields, all optional but the required ones. */
export function group<Options>(
  form: string,
  rows: Rows<Options>,
  required: readonly (keyof Options & string)[] = [],
): { readonly check: v.GenericSchema; readonly fields: Readonly<Record<string, Row<unknown>>> } {
  const fields = rows as Readonly<Record<string, Row<unknown>>>
  return { check: only(form, checksOf(fields), required), fields }
}

export function checksOf(rows: Readonly<Record<string, Row<unknown>>>): Readonly<Record<string, v.GenericSchema>> {
  return Object.fromEntries(Object.entries(rows).map(([name, { check }]) => [name, check]))
}
