import type { Environment, Setting } from './readers.ts'
import { settingTable, type SettingTable } from './setting-table.ts'

/** Values of settings that were set. */
export type Values = { readonly [Name in keyof SettingTable]?: ReturnType<SettingTable[Name]['read']> }

/** Reads each setting of the table by itself; a line goes into `faults` for each wrong one. */
export function readTable(env: Environment, faults: string[]): Values {
  const values: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries<Setting<unknown>>({ ...settingTable })) {
    const text = env[setting.name]?.trim()
    if (text === undefined || text === '') continue
    const value = setting.read(text)
    if (value === undefined) faults.push(wrongSetting(setting, text))
    else values[key] = value
  }
  // Each value was read by the setting of its own key.
  return values as Values
}

/** What is said of a value that a setting does not take. Secrets are not repeated. */
export function wrongSetting(setting: Setting<unknown>, given: string): string {
  const shown = setting.isSecret === true ? 'the value given' : `"${given.slice(0, 100)}"`
  return `${setting.name}: ${shown} is not allowed; use ${setting.allowed}.`
}

/** Says of variables that no setting has, such as a name misspelt, that they have no effect. */
export function unknownSettings(env: Environment): string[] {
  const known = new Set<string>(Object.values(settingTable).map(({ name }) => name))
  return Object.keys(env)
    .filter((name) => name.startsWith('INLAY_') && !known.has(name))
    .sort()
    .map((name) => `${name} is no setting of Inlay and has no effect.`)
}
